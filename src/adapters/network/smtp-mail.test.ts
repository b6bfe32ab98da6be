import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { type Mailbox, openMailbox } from "../../../test/support/customers/mailbox.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MailError } from "../../domain/errors.ts";
import type { MailOut } from "../../ports/mail-out.ts";
import { systemClock } from "../system/system-clock.ts";
import { createSmtpMail } from "./smtp-mail.ts";

const FROM = "Parallax <hello@parallax.example>";
const EMAIL = { to: "ada@example.org", subject: "A subject", text: "Plain – text", html: "<p>HTML – text</p>" };

/** Opens a mail server and a connection, calls `run`, then closes both. */
async function withMail(
  options: Parameters<typeof openMailbox>[0],
  url: (mailbox: Mailbox) => string,
  run: (mail: MailOut, mailbox: Mailbox) => Promise<void>,
): Promise<void> {
  const mailbox = await openMailbox(options);
  const mail = createSmtpMail(systemClock, { url: url(mailbox), from: FROM });
  try {
    await run(mail, mailbox);
  } finally {
    await mail.close();
    await mailbox.close();
  }
}

const plainUrl = ({ port }: Mailbox) => `smtp://127.0.0.1:${port}`;

test("sends an e-mail with a text and an HTML part to the recipient", async () => {
  await withMail({}, plainUrl, async (mail, mailbox) => {
    await mail.send(EMAIL);
    const [received] = mailbox.mails;
    assert.deepEqual(received?.recipients, ["ada@example.org"]);
    assert.deepEqual(received?.from, { name: "Parallax", address: "hello@parallax.example" });
    assert.equal(received?.subject, "A subject");
    assert.equal(received?.text?.trim(), "Plain – text");
    assert.equal(received?.html?.trim(), "<p>HTML – text</p>");
    assert.match(received?.raw ?? "", /^Content-Type: multipart\/alternative/im);
    assert.match(received?.raw ?? "", /^Auto-Submitted: auto-generated\r$/im);
  });
});

test("line breaks in the subject or e-mail address add no header and no recipient", async () => {
  await withMail({}, plainUrl, async (mail, mailbox) => {
    await mail.send({ ...EMAIL, subject: "Hello\r\nBcc: eve@example.org\r\nX-Evil: 1" });
    const [received] = mailbox.mails;
    assert.deepEqual(received?.recipients, ["ada@example.org"]);
    assert.deepEqual(
      received?.headers.map(({ key }) => key).filter((key) => key === "bcc" || key === "x-evil"),
      [],
    );
    for (const to of ["ada@example.org\r\nRCPT TO:<eve@example.org>", "ada@example.org,eve@example.org"])
      await mail.send({ ...EMAIL, to }).catch(() => {});
    for (const { recipients } of mailbox.mails) assert.ok(!recipients.includes("eve@example.org"), String(recipients));
  });
});

test("uses STARTTLS if the server offers it and rejects an untrusted certificate", async () => {
  await withMail({ tls: "starttls" }, plainUrl, async (mail, mailbox) => {
    await assert.rejects(mail.send(EMAIL), (error) => error instanceof MailError && error.retryable);
    assert.equal(mailbox.mails.length, 0);
  });
  const trustingUrl = ({ port }: Mailbox) => `smtp://127.0.0.1:${port}?tls.rejectUnauthorized=false`;
  await withMail({ tls: "starttls" }, trustingUrl, async (mail, mailbox) => {
    await mail.send(EMAIL);
    assert.equal(mailbox.mails[0]?.wasEncrypted, true);
  });
});

test("`smtps://` encrypts the connection from the first byte and rejects an untrusted certificate", async () => {
  const smtpsUrl = ({ port }: Mailbox) => `smtps://127.0.0.1:${port}`;
  await withMail({ tls: "implicit" }, smtpsUrl, async (mail, mailbox) => {
    await assert.rejects(mail.send(EMAIL), MailError);
    assert.equal(mailbox.mails.length, 0);
  });
  await withMail(
    { tls: "implicit" },
    (box) => `${smtpsUrl(box)}?tls.rejectUnauthorized=false`,
    async (mail, mailbox) => {
      await mail.send(EMAIL);
      assert.equal(mailbox.mails[0]?.wasEncrypted, true);
    },
  );
});

test("a 5xx refusal is not retryable; a 4xx refusal and a wrong password are retryable", async () => {
  await withMail({}, plainUrl, async (mail, mailbox) => {
    mailbox.refuse(550);
    await assert.rejects(mail.send(EMAIL), (error) => error instanceof MailError && !error.retryable);
    mailbox.refuse(451);
    await assert.rejects(mail.send(EMAIL), (error) => error instanceof MailError && error.retryable);
  });
  const urlWithPassword =
    (password: string) =>
    ({ port }: Mailbox) =>
      `smtp://postmaster:${password}@127.0.0.1:${port}`;
  await withMail({ password: "right" }, urlWithPassword("wrong"), async (mail) => {
    const error = await mail.send(EMAIL).then(
      () => null,
      (cause: unknown) => cause,
    );
    assert.ok(error instanceof MailError && error.retryable);
    assert.doesNotMatch(JSON.stringify([error.message, error.cause ?? ""]), /wrong|ada@example/);
  });
  await withMail({ password: "right" }, urlWithPassword("right"), (mail) => mail.send(EMAIL));
});

test("sending to an unreachable server fails with a retryable error", async () => {
  const mailbox = await openMailbox();
  await mailbox.close();
  const mail = createSmtpMail(systemClock, { url: plainUrl(mailbox), from: FROM });
  await assert.rejects(mail.send(EMAIL), (error) => error instanceof MailError && error.retryable);
  await mail.close();
});

test("sends e-mails unencrypted only to loopback or with `ignoreTLS`", async () => {
  // `0.0.0.0` reaches this machine but is not a loopback address.
  const nonLoopbackUrl = ({ port }: Mailbox) => `smtp://0.0.0.0:${port}`;
  await withMail({}, nonLoopbackUrl, async (mail, mailbox) => {
    await assert.rejects(mail.send(EMAIL), MailError);
    assert.equal(mailbox.mails.length, 0);
  });
  await withMail(
    {},
    (mailbox) => `${nonLoopbackUrl(mailbox)}?ignoreTLS=true`,
    async (mail, mailbox) => {
      await mail.send(EMAIL);
      assert.equal(mailbox.mails.length, 1);
    },
  );
});

/**
 * Sends an e-mail to a server that answers the client's first command with `reply`, at most `repetitionsMax` times, and
 * then closes the connection without completing the reply. Returns the error.
 */
async function sendToServer(reply: string, repetitionsMax: number): Promise<unknown> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.write("220 mail.example\r\n");
    socket.once("data", () => {
      let repetitions = 0;
      const send = () => {
        repetitions += 1;
        if (socket.destroyed) return;
        if (repetitions <= repetitionsMax) socket.write(reply, send);
        else socket.destroy();
      };
      send();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const mail = createSmtpMail(systemClock, {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    from: FROM,
  });
  const error = await mail.send(EMAIL).catch((thrown: unknown) => thrown);
  await mail.close();
  server.close();
  return error;
}

test("sending fails if a reply of the server exceeds 64 KiB, in several lines or in one", async () => {
  for (const reply of ["250-a line of a reply\r\n".repeat(4_000), "x".repeat(90_000)]) {
    const error = await sendToServer(reply, Number.POSITIVE_INFINITY);
    assert.ok(error instanceof MailError && error.retryable, String(error));
    // This server closes the connection after one `reply`. The client detects the excess size before the close.
    const early = await sendToServer(reply, 1);
    assert.match(String(early), /EPROTOCOL/);
  }
});

test("an e-mail to a server that sends one byte at a time fails after a minute and frees its connection", async () => {
  const sockets: Socket[] = [];
  const accepted = async (count: number) => {
    while (sockets.length < count) await new Promise(setImmediate);
  };
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.write("220 mail.example\r\n250-");
    const drip = setInterval(() => socket.write("x"), 10);
    socket.resume().on("close", () => clearInterval(drip));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const clock = new FakeClock();
  const { port } = server.address() as AddressInfo;
  const mail = createSmtpMail(clock, { url: `smtp://127.0.0.1:${port}`, from: FROM });
  const send = () => mail.send(EMAIL).catch((error: unknown) => error);
  const first = Array.from({ length: 4 }, send);
  await accepted(4);
  const closed = sockets.map((socket) => once(socket, "close"));
  await clock.advance(59_999);
  assert.equal(await Promise.race([...first, "pending"]), "pending");
  await clock.advance(1);
  for (const error of await Promise.all(first)) assert.ok(error instanceof MailError && error.retryable, String(error));
  await Promise.all(closed);
  const fifth = send();
  await accepted(5);
  await clock.advance(60_000);
  assert.ok((await fifth) instanceof MailError);
  await mail.close();
  server.close();
});
