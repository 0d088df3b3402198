import { readFileSync } from "node:fs";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const npm: Record<string, string> = JSON.parse(read("scripts/recipes/package.json")).dependencies;
const python = (name: string) =>
  new RegExp(`^${name}==(.+)$`, "m").exec(read("scripts/recipes/requirements.txt"))?.[1];
const server: Record<string, string> = JSON.parse(read("apps/server/package.json")).dependencies;
const spring = /<version>([\d.]+)<\/version>/.exec(read("examples/webhooks/spring-boot/pom.xml"))?.[1];

type RecipePage = {
  framework: string;
  /** Below `examples/webhooks`. */
  file: string;
  language: string;
  install: string;
  start: string;
  rawBody: string;
  queue: string;
  testedWith: string;
};

const nodeQueue = "Its `node:sqlite` needs Node 22.13 or later.";
const needsSample = (file: string) =>
  `Verifying and decrypting is [\`${file}\`](webhook-samples.md), which lies beside it.`;

/** What differs between the pages. Each shows one file of `examples/webhooks`, which a test runs. */
const recipePages: Readonly<Record<string, RecipePage>> = {
  express: {
    framework: "Express",
    file: "express/receiver.mjs",
    language: "js",
    install: 'npm install express "$BASE/webhook.tgz"',
    start: "node receiver.mjs",
    rawBody:
      "`express.raw` on this route hands over the bytes as they came. `express.json()` for the rest of your app leaves this type alone.",
    queue: nodeQueue,
    testedWith: `Express ${npm.express} on Node 24`,
  },
  fastify: {
    framework: "Fastify",
    file: "fastify/receiver.mjs",
    language: "js",
    install: 'npm install fastify "$BASE/webhook.tgz"',
    start: "node receiver.mjs",
    rawBody:
      "The content type parser hands over the bytes as they came. Parsers for other types stay as they are.",
    queue: nodeQueue,
    testedWith: `Fastify ${server.fastify} on Node 24`,
  },
  nextjs: {
    framework: "Next.js",
    file: "nextjs/route.js",
    language: "js",
    install: 'npm install "$BASE/webhook.tgz"',
    start: "npx next start --port 4000",
    rawBody:
      "The file is `app/webhooks/assay/route.js`. `request.text()` gives the body as it came; `request.json()` would not.",
    queue: `\`after\` runs \`work\` when the response has been sent. On a platform without a disk, write to your database in place of SQLite. ${nodeQueue}`,
    testedWith: `Next.js ${npm.next} on Node 24, built and started with \`next start\``,
  },
  hono: {
    framework: "Hono",
    file: "hono/receiver.mjs",
    language: "js",
    install: 'npm install hono @hono/node-server "$BASE/webhook.tgz"',
    start: "node receiver.mjs",
    rawBody: "`context.req.text()` gives the body as it came.",
    queue: `${nodeQueue} On Cloudflare Workers, send the event to a Queue in place of the table.`,
    testedWith: `Hono ${npm.hono} on Node 24`,
  },
  fastapi: {
    framework: "FastAPI",
    file: "fastapi/receiver.py",
    language: "python",
    install: "pip install fastapi uvicorn ./packages/webhook/python",
    start: "uvicorn receiver:app --port 4000",
    rawBody:
      "`await request.body()` gives the bytes as they came. A parameter with a model would have FastAPI parse them.",
    queue: "A thread of the same process does the work.",
    testedWith: `FastAPI ${python("fastapi")} on Python 3.11`,
  },
  django: {
    framework: "Django",
    file: "django/receiver.py",
    language: "python",
    install: "pip install django ./packages/webhook/python",
    start: "python receiver.py runserver --noreload 4000",
    rawBody:
      "`request.body` has the bytes as they came, as long as nothing has read `request.POST` before. `csrf_exempt` lets the service in.",
    queue: "A thread of the same process does the work.",
    testedWith: `Django ${python("django")} on Python 3.11`,
  },
  go: {
    framework: "Go",
    file: "go/receiver.go",
    language: "go",
    install: "cp examples/webhooks/open_webhook.go examples/webhooks/go/receiver.go .",
    start: "go run receiver.go open_webhook.go",
    rawBody: `\`io.ReadAll\` gives the bytes as they came. ${needsSample("open_webhook.go")}`,
    queue: "It needs nothing but the standard library, of Go 1.22 or later.",
    testedWith: "Go 1.26",
  },
  "spring-boot": {
    framework: "Spring Boot",
    file: "spring-boot/Receiver.java",
    language: "java",
    install: "cp examples/webhooks/OpenWebhook.java examples/webhooks/spring-boot/* .",
    start:
      "mvn spring-boot:run -Dspring-boot.run.arguments='--server.port=4000 --spring.datasource.url=jdbc:h2:./events;WRITE_DELAY=0'",
    rawBody: `\`@RequestBody byte[]\` gives the bytes as they came. ${needsSample("OpenWebhook.java")}`,
    queue:
      "It needs `spring-boot-starter-webmvc`, `spring-boot-starter-jdbc` and a driver, as in the `pom.xml`. `WRITE_DELAY=0` makes H2 write each commit before the answer; by default a crash loses those of the last half second.",
    testedWith: `Spring Boot ${spring} on Java 17`,
  },
  laravel: {
    framework: "Laravel",
    file: "laravel/AssayWebhookController.php",
    language: "php",
    install: "cp examples/webhooks/open_webhook.php examples/webhooks/laravel/* app/Http/Controllers/",
    start: "php artisan serve --port 4000",
    rawBody: `\`$request->getContent()\` gives the body as it came. ${needsSample("open_webhook.php")} Fill \`services.assay.webhook_secrets\` and \`services.assay.private_key\` from the environment in \`config/services.php\`.`,
    queue: "`terminating` runs the work when the response has been sent.",
    testedWith: "Laravel 8.83, as Debian 12 has it, on PHP 8.2. Later versions could not be run",
  },
};

export const recipeNames = Object.keys(recipePages);

/** The pages in one sentence. */
export function listRecipes(): string {
  return Object.entries(recipePages)
    .map(([name, { framework }]) => `[${framework}](webhooks-${name}.md)`)
    .join(" · ");
}

export function describeRecipe(name: string): string {
  const page = recipePages[name];
  if (page === undefined) throw new Error(`there is no recipe ${name}`);
  const fence = "```";
  return `# Receive webhooks in ${page.framework}

At the end of this page one file verifies and decrypts each delivery, stores it once, answers, and then works on it.

${fence}sh
${page.install}
export ASSAY_WEBHOOK_SECRETS=whsec_... ASSAY_PRIVATE_KEY="$(cat webhook-key.pem)"
${page.start}
${fence}

\`$BASE\` is the service. Secret and key come from [an endpoint](webhooks.md#1-create-an-endpoint), or from \`assay listen\`, which also brings deliveries [to your own machine](listen.md):

${fence}sh
npx "$BASE/cli.tgz" listen --url "$BASE" --key "$ASSAY_API_KEY" --forward-to http://127.0.0.1:4000/webhooks/assay
${fence}

The file is \`examples/webhooks/${page.file}\`:

${fence}${page.language}
${read(`examples/webhooks/${page.file}`)}${fence}

- **Raw body.** ${page.rawBody}
- **Once.** The id of the event is the key. A delivery that comes again gets the same answer and is not handled again, also after a restart.
- **Queue.** The answer is sent when the event is stored, so slow work does not cause retries. The claims are removed when the event has been handled. ${page.queue}
- **Both secrets.** Rotate with [\`overlap_hours\`](webhook-deliveries.md#change-the-signing-secret), set \`ASSAY_WEBHOOK_SECRETS="NEW OLD"\` and restart. Remove the old one when the time is over.
- **Refused.** A changed body, a wrong signature or another key is answered with 400. The service sends the delivery again later.

Tested with ${page.testedWith}: deliveries of a real service, sent twice, with both secrets, tampered with, and encrypted to another key.
`;
}
