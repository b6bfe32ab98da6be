import { COMPLETION_TOKENS, completion, respond, startLocalServer } from "./local-server.ts";
import { honestAnswer } from "./scripted-model.ts";

/**
 * How a scripted model server answers. good: by the prompt. costly: good, with as many tokens as a call may have. nonsense: text without JSON. wrong_schema: JSON of another
 * schema. not_protocol: a web page. hostile: a certain answer that cites documents which do not exist, and the request's own
 * headers. endless: a body without an end. refusing: filtered. failing: status 500. silent: never.
 */
export const SCRIPTS = [
  "good",
  "costly",
  "nonsense",
  "wrong_schema",
  "not_protocol",
  "hostile",
  "endless",
  "refusing",
  "failing",
  "silent",
] as const;
export type Script = (typeof SCRIPTS)[number];

/**
 * Starts a server of the protocol of OpenAI's chat completions on loopback. `script` chooses the answer of each request by its
 * user message.
 */
export async function startScriptedServer(
  script: (prompt: string) => Script,
  basePercent = 40,
): ReturnType<typeof startLocalServer> {
  return startLocalServer((request, response) => {
    const { messages } = JSON.parse(request.body);
    const { signal } = new AbortController();
    const call = { system: messages[0].content, prompt: messages[1].content, outputTokensMax: 1, signal };
    const certain = {
      document: "d99",
      direction: "yes",
      strength: "decisive",
      reliability: "high",
      claim: "It is certain.",
    };
    const hostile = {
      probability: 1,
      confidence: 1,
      evidence: [certain],
      open_questions: [JSON.stringify(request.headers)],
    };
    switch (script(call.prompt)) {
      case "good":
        return respond(response, completion(honestAnswer(call, basePercent)));
      case "costly":
        return respond(
          response,
          completion(honestAnswer(call, basePercent), "stop", { ...COMPLETION_TOKENS, completion: 800 }),
        );
      case "nonsense":
        return respond(response, completion("The moon is made of cheese."));
      case "wrong_schema":
        return respond(response, completion('{"probability": "high"}'));
      case "not_protocol":
        return respond(response, "<h1>Welcome</h1>", "text/html");
      case "hostile":
        return respond(
          response,
          completion(/"queries"/.test(call.prompt) ? honestAnswer(call, basePercent) : JSON.stringify(hostile)),
        );
      case "refusing":
        return respond(response, completion("", "content_filter"));
      case "failing":
        return respond(response, '{"error":{"message":"overloaded"}}', "application/json", 500);
      case "endless": {
        response.writeHead(200, { "content-type": "application/json" });
        const write = () => {
          while (response.write(" ".repeat(65_536)));
        };
        response.on("drain", write);
        return write();
      }
      case "silent":
    }
  });
}
