/** Common values of the invented recordings, which test the check itself. */

export interface SampleRecording {
  readonly file: string;
  readonly venue: string;
  readonly channel: string;
  readonly captured_at: string;
  readonly payload: unknown;
}

export const CAPTURED = "2026-11-20T12:00:00Z";
export const NOW = Date.parse(CAPTURED);
export const MINUTE_MS = 60_000;
export const YES = "111222333";
export const NO = "444555666";
export const iso = (offsetMs: number) => new Date(NOW + offsetMs).toISOString();
export const seconds = (offsetMs: number) => Math.round((NOW + offsetMs) / 1_000);

export const sample = (file: string, venue: string, channel: string, payload: unknown): SampleRecording => ({
  file,
  venue,
  channel,
  captured_at: CAPTURED,
  payload,
});
