import assert from "node:assert/strict";
import { test } from "node:test";
import { type Mailbox, openMailbox } from "../../../test/support/customers/mailbox.ts";
import { MailError } from "../../domain/errors.ts";
import type { MailOut } from "../../ports/mail-out.ts";
import { createSmtpMail } from "./smtp-mail.ts";

const FROM = "Parallax <hello@parallax.example>";
const LETTER = { to: "ada@example.org", subject: "A subject", text: "Plain – text", html: "<p>Dressed – text</p>" };

/** Sends over a new server and connection, which are closed at the end. */
async function withMail(
  options: Parameters<typeof openMailbox>[0],
  url: (mailbox: Mailbox) => string,
  run: (mail: MailOut, mailbox: Mailbox) => Promise<void>,
): Promise<void> {
  const mailbox = await openMailbox(options);
  const mail = createSmtpMail({ url: url(mailbox), from: FROM });
  try {
    await run(mail, mailbox);
  } finally {
    await mail.close();
    await mailbox.close();
  }
}

const plain = ({ port }: Mailbox) => `smtp://127.0.0.1:${port}`;

test("a letter arrives in plain and in dressed text, from and to whom it should", async () => {
  await withMail({}, plain, async (mail, mailbox) => {
    await mail.send(LETTER);
    const [got] = mailbox.mails;
    assert.deepEqual(got?.recipients, ["ada@example.org"]);
    assert.deepEqual(got?.from, { name: "Parallax", address: "hello@parallax.example" });
    assert.equal(got?.subject, "A subject");
    assert.equal(got?.text?.trim(), "Plain – text");
    assert.equal(got?.html?.trim(), "<p>Dressed – text</p>");
    assert.match(got?.raw ?? "", /^Content-Type: multipart\/alternative/im);
    assert.match(got?.raw ?? "", /^Auto-Submitted: auto-generated\r$/im);
  });
});

test("line ends in a subject or a mailbox make no header and no second recipient", async () => {
  await withMail({}, plain, async (mail, mailbox) => {
    await mail.send({ ...LETTER, subject: "Hello\r\nBcc: eve@example.org\r\nX-Evil: 1" });
    const [got] = mailbox.mails;
    assert.deepEqual(got?.recipients, ["ada@example.org"]);
    assert.deepEqual(
      got?.headers.map(({ key }) => key).filter((key) => key === "bcc" || key === "x-evil"),
      [],
    );
    for (const to of ["ada@example.org\r\nRCPT TO:<eve@example.org>", "ada@example.org,eve@example.org"])
      await mail.send({ ...LETTER, to }).catch(() => {});
    for (const { recipients } of mailbox.mails) assert.ok(!recipients.includes("eve@example.org"), String(recipients));
  });
});

test("STARTTLS is used where the server offers it, and a certificate that nobody vouches for is refused", async () => {
  await withMail({ tls: "starttls" }, plain, async (mail, mailbox) => {
    await assert.rejects(mail.send(LETTER), (error) => error instanceof MailError && error.retryable);
    assert.equal(mailbox.mails.length, 0);
  });
  const trusting = ({ port }: Mailbox) => `smtp://127.0.0.1:${port}?tls.rejectUnauthorized=false`;
  await withMail({ tls: "starttls" }, trusting, async (mail, mailbox) => {
    await mail.send(LETTER);
    assert.equal(mailbox.mails[0]?.wasEncrypted, true);
  });
});

test("smtps:// is encrypted from the first byte, and its certificate is checked as well", async () => {
  const address = ({ port }: Mailbox) => `smtps://127.0.0.1:${port}`;
  await withMail({ tls: "implicit" }, address, async (mail, mailbox) => {
    await assert.rejects(mail.send(LETTER), MailError);
    assert.equal(mailbox.mails.length, 0);
  });
  await withMail(
    { tls: "implicit" },
    (box) => `${address(box)}?tls.rejectUnauthorized=false`,
    async (mail, mailbox) => {
      await mail.send(LETTER);
      assert.equal(mailbox.mails[0]?.wasEncrypted, true);
    },
  );
});

test("a refusal for good is told apart from one for now, and a wrong password is the operator's to mend", async () => {
  await withMail({}, plain, async (mail, mailbox) => {
    mailbox.refuse(550);
    await assert.rejects(mail.send(LETTER), (error) => error instanceof MailError && !error.retryable);
    mailbox.refuse(451);
    await assert.rejects(mail.send(LETTER), (error) => error instanceof MailError && error.retryable);
  });
  const login =
    (password: string) =>
    ({ port }: Mailbox) =>
      `smtp://postmaster:${password}@127.0.0.1:${port}`;
  await withMail({ password: "right" }, login("wrong"), async (mail) => {
    const told = await mail.send(LETTER).then(
      () => null,
      (error: unknown) => error,
    );
    assert.ok(told instanceof MailError && told.retryable);
    assert.doesNotMatch(JSON.stringify([told.message, told.cause ?? ""]), /wrong|ada@example/);
  });
  await withMail({ password: "right" }, login("right"), (mail) => mail.send(LETTER));
});

test("a server that is not there is an error that may pass", async () => {
  const mailbox = await openMailbox();
  await mailbox.close();
  const mail = createSmtpMail({ url: plain(mailbox), from: FROM });
  await assert.rejects(mail.send(LETTER), (error) => error instanceof MailError && error.retryable);
  await mail.close();
});

test("away from this machine nothing is sent in the clear, unless the operator says so", async () => {
  // An address of this machine that is not known for one.
  const elsewhere = ({ port }: Mailbox) => `smtp://0.0.0.0:${port}`;
  await withMail({}, elsewhere, async (mail, mailbox) => {
    await assert.rejects(mail.send(LETTER), MailError);
    assert.equal(mailbox.mails.length, 0);
  });
  await withMail(
    {},
    (mailbox) => `${elsewhere(mailbox)}?ignoreTLS=true`,
    async (mail, mailbox) => {
      await mail.send(LETTER);
      assert.equal(mailbox.mails.length, 1);
    },
  );
});
