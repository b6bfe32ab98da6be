// Stores a new API key for the examples in the documentation, in this tab only. Signing out clears the storage.
sessionStorage.setItem("parallax-key", document.querySelector("[data-session-key] code").textContent);
