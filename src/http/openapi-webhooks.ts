const OPENAPI_HEADERS = [
  { name: "webhook-id", description: "`evt_` and the id of the event. A repeated delivery has the same id." },
  { name: "webhook-timestamp", description: "Unix time of the attempt in seconds." },
  { name: "webhook-signature", description: "Signatures by Standard Webhooks: `v1,` and base64, separated by spaces." },
  { name: "x-webhook-signature", description: "HMAC-SHA256 of the body in hexadecimal digits." },
];

/** Returns the `webhooks` of the OpenAPI document: the request that a receiver gets for each type of event. */
export function describeWebhooks(
  events: ReadonlyMap<string, { readonly summary: string; readonly schema: object }>,
): Readonly<Record<string, object>> {
  const describe = (type: string, { summary, schema }: { summary: string; schema: object }) => ({
    post: {
      operationId: `on_${type}`,
      summary,
      tags: ["Streaming"],
      parameters: OPENAPI_HEADERS.map(({ name, description }) => ({
        in: "header",
        name,
        required: true,
        description,
        schema: { type: "string" },
      })),
      requestBody: { required: true, content: { "application/json": { schema } } },
      responses: { "2XX": { description: "Delivered. Any other response, or none within 10 seconds, is repeated." } },
    },
  });
  return Object.fromEntries([...events].map(([type, event]) => [type, describe(type, event)]));
}
