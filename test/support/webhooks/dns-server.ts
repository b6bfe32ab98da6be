import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";
import { normaliseIpAddress } from "../../../src/lib/ip-prefix.ts";

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;
const HEADER_BYTES = 12;
/** Response to a recursive query, with recursion available. */
const RESPONSE_FLAGS = 0x8180;
const CODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 } as const;

type RecordType = keyof typeof TYPES;
interface DnsRecord {
  readonly name: string;
  readonly type: RecordType;
  /** An address, or the name to which a CNAME points. */
  readonly value: string;
}
/** Records, or an error code; "silent" sends no answer, and "malformed" one that cannot be parsed. */
export type DnsAnswer = readonly DnsRecord[] | keyof typeof CODES | "silent" | "malformed";
export interface DnsQuestion {
  readonly name: string;
  readonly type: RecordType;
}

export interface DnsServer {
  /** Address and port. */
  readonly address: string;
  readonly questions: readonly DnsQuestion[];
  close(): Promise<void>;
}

/** Answers for addresses of a name, by the type of the question. */
export function addressRecords({ name, type }: DnsQuestion, addresses: readonly string[]): readonly DnsRecord[] {
  return addresses
    .filter((address) => (isIPv4(address) ? type === "A" : type === "AAAA"))
    .map((value) => ({ name, type, value }));
}

/** A DNS server on loopback over UDP. */
export async function startDnsServer(answer: (question: DnsQuestion) => DnsAnswer): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const questions: DnsQuestion[] = [];
  socket.on("message", (query, { port, address }) => {
    const { question, end } = parseQuestion(query);
    questions.push(question);
    const result = answer(question);
    if (result === "silent") return;
    socket.send(
      result === "malformed" ? query.subarray(0, 5) : encodeAnswer(query.subarray(0, end), result),
      port,
      address,
    );
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function parseQuestion(query: Buffer): { readonly question: DnsQuestion; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const code = query.readUInt16BE(at + 1);
  const type = (Object.keys(TYPES) as RecordType[]).find((name) => TYPES[name] === code);
  if (type === undefined) throw new Error(`unexpected question of type ${code}`);
  return { question: { name: labels.join("."), type }, end: at + 5 };
}

/** @param query  header and question */
function encodeAnswer(query: Buffer, answer: readonly DnsRecord[] | keyof typeof CODES): Buffer {
  const records = typeof answer === "string" ? [] : answer;
  const head = Buffer.from(query);
  head.writeUInt16BE(RESPONSE_FLAGS | (typeof answer === "string" ? CODES[answer] : 0), 2);
  // One question, the answers, and no other sections.
  for (const [index, count] of [1, records.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * index);
  return Buffer.concat([head, ...records.map(encodeRecord)]);
}

function encodeRecord({ name, type, value }: DnsRecord): Buffer {
  const data = type === "CNAME" ? encodeName(value) : encodeAddress(value);
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(TYPES[type], 0);
  fixed.writeUInt16BE(1, 2);
  // The time to live at 4 is 0, so that every look-up asks again.
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fixed, data]);
}

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);

function encodeAddress(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  // An IPv4-mapped address would lose its form in `normaliseIpAddress`.
  const mapped = /^::ffff:([\d.]+)$/.exec(address)?.[1];
  if (mapped !== undefined) return Buffer.concat([Buffer.alloc(10), Buffer.from([255, 255]), encodeAddress(mapped)]);
  const groups = (normaliseIpAddress(address) ?? "").split(":").map((group) => Number.parseInt(group, 16));
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 255]));
}
