import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findBrowser, thisMachine } from "./find-browser.ts";
import { findKubernetesApi } from "./kubernetes/schemas.ts";

type Need = { for: string; get: string; isHere(): boolean };

const starts = (program: string, ...args: string[]) =>
  spawnSync(program, args, { stdio: "ignore" }).status === 0;
const named = (variable: string) => (process.env[variable] ?? "") !== "";

/**
 * What the tests of `npm run test:system` need.
 * A test whose need is missing is skipped, with the same reason.
 */
const needs: readonly Need[] = [
  {
    for: "a browser with windows",
    get: "apt-get install chromium",
    isHere: () => findBrowser(thisMachine).whole !== null,
  },
  {
    for: "a virtual card reader (PC/SC)",
    get: "apt-get install pcscd vsmartcard-vpcd",
    isHere: () => starts("pcscd", "--version") && existsSync("/usr/lib/pcsc/drivers/serial"),
  },
  {
    for: "a connection pooler",
    get: "apt-get install pgbouncer",
    isHere: () => starts("pgbouncer", "--version"),
  },
  { for: "alarm rules", get: "apt-get install prometheus", isHere: () => starts("promtool", "--version") },
  {
    for: "the Android shell and the Java sample",
    get: "apt-get install openjdk-17-jdk-headless",
    isHere: () => starts("javac", "-version"),
  },
  { for: "the Go sample", get: "apt-get install golang-go", isHere: () => starts("go", "version") },
  { for: "the PHP sample", get: "apt-get install php-cli", isHere: () => starts("php", "--version") },
  {
    for: "the recipe for Laravel",
    get: "apt-get install php-laravel-framework php-sqlite3",
    isHere: () => starts("php", "-r", "require 'Illuminate/autoload.php';"),
  },
  {
    for: "the recipe for Spring Boot",
    get: "apt-get install maven",
    isHere: () => starts("mvn", "--version"),
  },
  { for: "the Ruby sample", get: "apt-get install ruby", isHere: () => starts("ruby", "--version") },
  {
    for: "the Python sample",
    get: "apt-get install python3-cryptography",
    isHere: () => starts("python3", "-c", "import cryptography"),
  },
  {
    for: "the wheel of the Python package",
    get: "python3 -m pip install wheel mypy",
    isHere: () => starts("python3", "-c", "import wheel, mypy"),
  },
  ...["bun", "deno", "workerd"].map((name) => ({
    for: `the webhook package on ${name}`,
    get: `npm install --global ${name}`,
    isHere: () => starts(name, "--version"),
  })),
  {
    for: "a partner's way from an empty folder",
    get: "a connection to the registries of npm and PyPI",
    isHere: () => starts("npm", "view", "jose", "version"),
  },
  { for: "the C# sample", get: "install the .NET SDK", isHere: () => starts("dotnet", "--version") },
  {
    for: "the iPhone shell",
    get: "apt-get install swiftlang (Debian 13)",
    isHere: () => starts("swiftc", "--version"),
  },
  {
    for: "the Helm chart",
    get: "go install helm.sh/helm/v3/cmd/helm@latest",
    isHere: () => starts("helm", "version", "--short"),
  },
  {
    for: "what Kubernetes takes of the chart",
    get: "go install github.com/yannh/kubeconform/cmd/kubeconform@latest, go mod download k8s.io/kubernetes@v1.34.1",
    isHere: () => starts("kubeconform", "-v") && findKubernetesApi(process.env) !== null,
  },
  { for: "real documents", get: "set ASSAY_VECTORS to their folder", isHere: () => named("ASSAY_VECTORS") },
];

export function printSystemNeeds(print: (line: string) => void): void {
  print("These tests need more than Node and npm:");
  for (const need of needs)
    print(`  ${need.isHere() ? "here   " : "missing"}  ${need.for}${need.isHere() ? "" : `: ${need.get}`}`);
  print("");
}
