/**
 * Returns a condition id in the only form that the Data API accepts: 32 bytes in lower-case hexadecimal. Markets of
 * protocol V2 have ids of 31 bytes, which are padded with a zero byte at the end. Returns null for other text: one such
 * id makes the venue refuse a whole batch.
 */
export function dataConditionId(conditionId: string): string | null {
  if (!/^0x(?:[0-9a-f]{62}|[0-9a-f]{64})$/i.test(conditionId)) return null;
  return conditionId.toLowerCase().padEnd(66, "0");
}
