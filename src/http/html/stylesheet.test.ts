import assert from "node:assert/strict";
import { test } from "node:test";
import { STYLESHEET } from "./stylesheet.ts";

/** Pairs of text colour and background that pages use. */
const PAIRS = [
  ...["ink", "faint", "accent", "up", "down", "warn"].flatMap((text) =>
    ["ground", "paper", "tint"].map((background) => [text, background] as const),
  ),
  ["on-accent", "accent"],
  ["on-badge", "badge"],
] as const;
const CONTRAST_MIN = 4.5;

/** Relative luminance by WCAG 2.2. */
function luminance(color: string): number {
  const channels = [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = channels.map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

test("in the light and the dark theme, text has a contrast of at least 4.5 (WCAG AA)", () => {
  const colors = [...STYLESHEET.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];
  const themes = [2, 3].map((group) => new Map(colors.map((match) => [match[1], match[group]])));
  for (const theme of themes)
    for (const [text, background] of PAIRS) {
      const value = contrast(theme.get(text) ?? "", theme.get(background) ?? "");
      assert.ok(value >= CONTRAST_MIN, `${text} on ${background}: ${value.toFixed(2)}`);
    }
});
