import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { installNpmFrameworks, installPythonFrameworks } from "../../support/framework-packages.ts";
import {
  checkRecipe,
  copyExample,
  enqueueIn,
  nodeRecipe,
  type Recipe,
  runToEnd,
  startRecipeService,
} from "../../support/recipes.ts";

const service = await startRecipeService();
const promise = "handles each event once, takes both secrets of a rotation, and refuses everything else";
const isHere = (command: string, ...args: string[]) =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

/** With `@assay/webhook` as the service hands it out. */
function withPackage(recipe: Recipe): Recipe {
  return {
    ...recipe,
    prepare: async (folder) => {
      const archive = await fetch(`${service.url}/webhook.tgz`);
      const place = join(folder, "node_modules/@assay/webhook");
      mkdirSync(place, { recursive: true });
      writeFileSync(join(folder, "webhook.tgz"), Buffer.from(await archive.arrayBuffer()));
      const unpacked = await runToEnd(
        ["tar", "-xzf", "webhook.tgz", "--strip-components=1", "-C", place],
        folder,
      );
      assert.equal(unpacked.code, 0, unpacked.output);
      await recipe.prepare(folder);
    },
  };
}

const nextjs: Recipe = {
  prepare: async (folder) => {
    mkdirSync(join(folder, "app/webhooks/assay"), { recursive: true });
    copyExample("nextjs/route.js", join(folder, "app/webhooks/assay/route.js"));
    // Beside the packages of the test, Next.js would take the folder of the whole project for its own.
    writeFileSync(
      join(folder, "next.config.mjs"),
      'import path from "node:path";\nexport default { turbopack: { root: path.resolve("..") } };\n',
    );
    const built = await runToEnd([process.execPath, "../node_modules/next/dist/bin/next", "build"], folder, {
      NEXT_TELEMETRY_DISABLED: "1",
    });
    assert.equal(built.code, 0, built.output);
  },
  start: (port) => [
    process.execPath,
    "../node_modules/next/dist/bin/next",
    "start",
    "--hostname",
    "127.0.0.1",
    "--port",
    String(port),
  ],
  enqueue: enqueueIn("events"),
};

const recipesInNode = {
  Express: nodeRecipe("express"),
  Hono: nodeRecipe("hono"),
  "Next.js": nextjs,
};

for (const [name, recipe] of Object.entries(recipesInNode))
  test(`the recipe for ${name} ${promise}`, async (context) => {
    const packages = await installNpmFrameworks();
    if (packages === null) return context.skip("npm could not install the frameworks");
    await checkRecipe(withPackage(recipe), service, packages);
  });

/** In an otherwise empty folder. */
async function checkElsewhere(recipe: Recipe): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "assay-recipes-"));
  await checkRecipe(recipe, service, folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

const recipesInPython = {
  FastAPI: {
    start: (python: string, port: number) => [
      python,
      "-m",
      "uvicorn",
      "receiver:app",
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
    ],
    table: "events",
  },
  Django: {
    start: (python: string, port: number) => [
      python,
      "receiver.py",
      "runserver",
      "--noreload",
      `127.0.0.1:${port}`,
    ],
    table: "assay_events",
  },
};

for (const [name, { start, table }] of Object.entries(recipesInPython))
  test(`the recipe for ${name} ${promise}`, async (context) => {
    if (!isHere("python3", "--version")) return context.skip("python3 is not installed");
    const python = await installPythonFrameworks();
    if (python === null) return context.skip("pip could not install the frameworks");
    await checkElsewhere({
      prepare: (folder) => copyExample(`${name.toLowerCase()}/receiver.py`, join(folder, "receiver.py")),
      start: (port) => start(python, port) as [string, ...string[]],
      enqueue: enqueueIn(table),
    });
  });

test(`the recipe for Go ${promise}`, async (context) => {
  if (!isHere("go", "version")) return context.skip("go is not installed");
  await checkElsewhere({
    prepare: async (folder) => {
      copyExample("open_webhook.go", join(folder, "open_webhook.go"));
      copyExample("go/receiver.go", join(folder, "receiver.go"));
      const built = await runToEnd(
        ["go", "build", "-o", "receiver", "receiver.go", "open_webhook.go"],
        folder,
      );
      assert.equal(built.code, 0, built.output);
    },
    start: () => ["./receiver"],
    enqueue: (folder, id, event) => writeFileSync(join(folder, "events", id), event),
  });
});

test(`the recipe for Laravel ${promise}`, async (context) => {
  const check = "require 'Illuminate/autoload.php'; exit(extension_loaded('pdo_sqlite') ? 0 : 1);";
  if (!isHere("php", "-r", check)) return context.skip("Laravel or php-sqlite3 of Debian is not installed");
  await checkElsewhere({
    prepare: (folder) => {
      mkdirSync(join(folder, "bootstrap/cache"), { recursive: true });
      copyExample("open_webhook.php", join(folder, "open_webhook.php"));
      copyExample("laravel/AssayWebhookController.php", join(folder, "AssayWebhookController.php"));
      cpSync(
        join(import.meta.dirname, "../../../../../scripts/recipes/laravel.php"),
        join(folder, "index.php"),
      );
    },
    start: (port) => ["php", "-S", `127.0.0.1:${port}`, "index.php"],
    enqueue: enqueueIn("assay_events"),
  });
});

/** Only one process at a time can open its H2 database, so the shell in its archive writes into it. */
const springBoot = (context: TestContext): Recipe => {
  const database = "jdbc:h2:./events;WRITE_DELAY=0";
  return {
    prepare: async (folder) => {
      copyExample("OpenWebhook.java", join(folder, "OpenWebhook.java"));
      for (const file of ["Receiver.java", "pom.xml"]) copyExample(`spring-boot/${file}`, join(folder, file));
      const built = await runToEnd(["mvn", "--batch-mode", "--quiet", "package"], folder);
      if (/could not (?:be resolved|transfer)/i.test(built.output))
        context.skip("Maven could not fetch Spring Boot");
      assert.equal(built.code, 0, built.output);
    },
    start: (port) => [
      "java",
      "-jar",
      "target/receiver-1.jar",
      `--server.port=${port}`,
      `--spring.datasource.url=${database}`,
    ],
    enqueue: async (folder, id, event) => {
      const statement = `insert into assay_events (id, event) values ('${id}', '${event}')`;
      const found = await runToEnd(
        ["sh", "-c", "unzip -o -q target/receiver-1.jar 'BOOT-INF/lib/h2-*.jar'"],
        folder,
      );
      assert.equal(found.code, 0, found.output);
      const shell = ["java", "-cp", "BOOT-INF/lib/*", "org.h2.tools.Shell"] as const;
      const ran = await runToEnd([...shell, "-url", database, "-user", "", "-sql", statement], folder);
      assert.equal(ran.code, 0, ran.output);
    },
  };
};

test(`the recipe for Spring Boot ${promise}`, async (context) => {
  if (!isHere("mvn", "--version") || !isHere("javac", "-version"))
    return context.skip("mvn or javac is not installed");
  await checkElsewhere(springBoot(context));
});
