import Type, { type Static } from "typebox";
import { Compile } from "typebox/schema";
import { AppError } from "../../../domain/errors.ts";
import { parseJson } from "../../../http/validation/json.ts";
import type { Hex, Payment } from "./model.ts";

const HEADER_LENGTH_MAX = 8 * 1024;
const JSON_DEPTH_MAX = 8;
/** Base64 with or without padding. Whitespace and the URL-safe alphabet are rejected, so that each payment has one encoding. */
const BASE64_PATTERN = /^[A-Za-z0-9+/]+={0,2}$/;
const UINT256_MAX = 2n ** 256n - 1n;

const AddressSchema = Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" });
/** Digits without sign, decimal point or leading zero, so that all parsers return the same value. */
const UintSchema = Type.String({ pattern: "^(?:0|[1-9][0-9]{0,77})$" });
const NameSchema = Type.String({ minLength: 1, maxLength: 100 });

const SignedTransfer = Type.Object({
  signature: Type.String({ pattern: "^0x[0-9a-fA-F]{130}$" }),
  authorization: Type.Object(
    {
      from: AddressSchema,
      to: AddressSchema,
      value: UintSchema,
      validAfter: UintSchema,
      validBefore: UintSchema,
      nonce: Type.String({ pattern: "^0x[0-9a-fA-F]{64}$" }),
    },
    { additionalProperties: false },
  ),
});

const paymentV1 = Compile(
  Type.Object({ x402Version: Type.Literal(1), scheme: NameSchema, network: NameSchema, payload: SignedTransfer }),
);
const paymentV2 = Compile(
  Type.Object({
    x402Version: Type.Literal(2),
    accepted: Type.Object({ scheme: NameSchema, network: NameSchema }),
    payload: SignedTransfer,
  }),
);

/**
 * Parses a payment header (`PAYMENT-SIGNATURE` or `X-PAYMENT`) with base64-encoded JSON. Validates the format only.
 *
 * @throws AppError `malformed_payment`
 */
export function parsePaymentHeader(header: string): Payment {
  if (header.length > HEADER_LENGTH_MAX)
    throw createMalformedError(`it is longer than ${HEADER_LENGTH_MAX} characters`);
  const value = decodeJson(header);
  if (paymentV2.Check(value)) {
    const { accepted, payload } = value;
    const { scheme, network } = accepted;
    return { version: 2, scheme, network, accepted, ...toSignedAuthorization(payload) };
  }
  if (paymentV1.Check(value)) {
    const { scheme, network, payload } = value;
    return { version: 1, scheme, network, accepted: null, ...toSignedAuthorization(payload) };
  }
  throw createMalformedError("it is not a version 1 or 2 payment with an EIP-3009 authorization");
}

function decodeJson(header: string): unknown {
  const bytes = BASE64_PATTERN.test(header) ? Buffer.from(header, "base64") : null;
  if (bytes === null || removePadding(bytes.toString("base64")) !== removePadding(header)) {
    throw createMalformedError("it is not base64");
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw createMalformedError("it is not UTF-8");
  }
  const json = parseJson(text);
  if (!json.ok) throw createMalformedError("it is not JSON");
  if (depthOf(json.value) > JSON_DEPTH_MAX)
    throw createMalformedError(`it is nested deeper than ${JSON_DEPTH_MAX} levels`);
  return json.value;
}

const removePadding = (base64: string) => base64.replace(/=+$/, "");

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function toSignedAuthorization({ signature, authorization }: Static<typeof SignedTransfer>) {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  if ([value, validAfter, validBefore].some((digits) => BigInt(digits) > UINT256_MAX)) {
    throw createMalformedError("a number in it is larger than 256 bits");
  }
  return {
    signature: toHex(signature),
    authorization: { from: toHex(from), to: toHex(to), value, validAfter, validBefore, nonce: toHex(nonce) },
  };
}

/** The cast is safe, because the schemas validate the format. */
const toHex = (text: string) => text.toLowerCase() as Hex;

const createMalformedError = (why: string) =>
  new AppError("malformed_payment", `The payment header is malformed: ${why}`);
