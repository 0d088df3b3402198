#!/usr/bin/env node
import { parseArgs, promisify } from "node:util";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { constants, createDecipheriv, createHash, createHmac, createPrivateKey, createPublicKey, generateKeyPair, privateDecrypt, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { setTimeout as setTimeout$1 } from "node:timers/promises";
import { Socket, isIP } from "node:net";
import { connect } from "node:tls";
import { request, validateHeaderName, validateHeaderValue } from "node:http";
import { request as request$1 } from "node:https";
import { homedir, hostname, platform } from "node:os";
import path from "node:path";
// packages/contract/src/nearest.ts
/**
* The known name that the caller probably meant:
* the one with the fewest edits, or null if there are too many.
*/
function nearest(name, known) {
	const plain = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
	const asked = plain(name);
	if (asked.length > 80) return null;
	const [best] = known.map((candidate) => ({
		candidate,
		changes: changesBetween(asked, plain(candidate))
	})).sort((a, b) => a.changes - b.changes);
	return best !== void 0 && best.changes <= Math.max(2, asked.length / 4) ? best.candidate : null;
}
/** Insertions, deletions and changes between the texts (Levenshtein distance). */
function changesBetween(from, to) {
	let row = Array.from({ length: to.length + 1 }, (_, index) => index);
	for (const [line, letter] of [...from].entries()) {
		const next = [line + 1];
		for (const [at, other] of [...to].entries()) next.push(Math.min((row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1, (row[at] ?? 0) + (letter === other ? 0 : 1)));
		row = next;
	}
	return row.at(-1) ?? 0;
}
// packages/cli/src/style.ts
const codes = {
	bold: 1,
	dim: 2,
	red: 31,
	green: 32,
	yellow: 33,
	cyan: 36
};
const marks = {
	ok: {
		sign: "✓",
		word: "[ok]  ",
		colour: "green"
	},
	warning: {
		sign: "!",
		word: "[warn]",
		colour: "yellow"
	},
	problem: {
		sign: "✗",
		word: "[fail]",
		colour: "red"
	}
};
/** https://no-color.org and https://force-color.org: the former wins, as the wish for less. */
function hasColours(shown, env) {
	if (env.NO_COLOR) return false;
	if (env.FORCE_COLOR) return env.FORCE_COLOR !== "0";
	return shown.isTTY === true && env.TERM !== "dumb";
}
const progressAfterMs = 1e3;
/** On less, lines are broken by the terminal: words below each other are worse to read. */
const minWidth = 40;
/** `shown` is where the lines go. Progress is written beside them, so that it never gets into a file. */
function styleOf(shown, beside, env) {
	const coloured = hasColours(shown, env);
	const isTerminal = shown.isTTY === true && env.TERM !== "dumb";
	const paint = (colour, text) => coloured ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
	return {
		paint,
		mark: (state) => {
			const { sign, word, colour } = marks[state];
			return paint(colour, isTerminal || coloured ? sign : word);
		},
		width: isTerminal ? Math.max(minWidth, shown.columns || 80) : null,
		progress: async (text, work) => {
			if (beside.isTTY !== true || env.TERM === "dumb") return work();
			const turns = [
				"-",
				"\\",
				"|",
				"/"
			];
			let turn = 0;
			let drawn = false;
			const draw = () => {
				drawn = true;
				beside.write?.(`\r\u001b[K${turns[turn++ % turns.length]} ${text}`);
			};
			let every = null;
			const first = setTimeout(() => {
				draw();
				every = setInterval(draw, 200);
			}, progressAfterMs);
			try {
				return await work();
			} finally {
				clearTimeout(first);
				if (every !== null) clearInterval(every);
				if (drawn) beside.write?.("\r\x1B[K");
			}
		}
	};
}
const plainStyle = styleOf({}, {}, {});
/** Replaces control characters in foreign text, which a terminal would obey. */
function printable(text) {
	return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "�");
}
new Intl.Segmenter();
// packages/cli/src/command.ts
/** A mistake that the user of the command can fix: shown without a stack trace. */
var CommandError = class extends Error {
	exitCode;
	constructor(message, exitCode = 1) {
		super(message);
		this.exitCode = exitCode;
	}
};
/** " Did you mean …?", or nothing where no known name is near. */
function didYouMean(typed, known, shown = (name) => name) {
	const name = nearest(typed, known);
	return name === null ? "" : ` Did you mean ${shown(name)}?`;
}
function usageOf(command) {
	const options = Object.keys(command.options ?? {}).length > 0 ? "[options]" : void 0;
	return `Usage: ${[
		"assay",
		command.name,
		command.positionals,
		options
	].filter((part) => part !== void 0).join(" ")}`;
}
function helpOf(command, style = plainStyle) {
	const title = (text) => style.paint("bold", text);
	const lines = [
		usageOf(command),
		"",
		...wrap(command.about, style.width)
	];
	const options = Object.entries(command.options ?? {}).map(([name, option]) => [`--${name}${option.type === "string" ? ` ${option.placeholder ?? name.toUpperCase()}` : ""}`, `${option.about}${option.required ? " (required)" : ""}`]);
	options.push(["--help", "Show this."]);
	lines.push("", title("Options:"), ...indented(options, style));
	if (command.examples !== void 0) lines.push("", title("Examples:"), ...command.examples.map((example) => `  assay ${example}`));
	if (command.exitCodes !== void 0) {
		const ends = {
			0: "Done.",
			1: "The command is wrong, or something has to be mended first.",
			...command.exitCodes
		};
		lines.push("", title("Ends with:"), ...indented(Object.entries(ends), style));
	}
	lines.push("", ...wrap(command.environment ?? "Settings come from the environment; docs/configuration.md lists them.", style.width));
	return lines.join("\n");
}
function indented(rows, style) {
	const width = Math.max(...rows.map(([name]) => name.length)) + 4;
	return rows.flatMap(([name, about]) => wrap(about, style.width === null ? null : Math.max(30, style.width - width)).map((line, index) => index === 0 ? `  ${name}`.padEnd(width) + line : " ".repeat(width) + line));
}
/** Breaks at `width`; one line without a terminal. */
function wrap(text, width) {
	if (width === null) return [text];
	const lines = [];
	let line = "";
	for (const word of text.split(" ")) if (line !== "" && line.length + 1 + word.length > width) {
		lines.push(line);
		line = word;
	} else line = line === "" ? word : `${line} ${word}`;
	return [...lines, line];
}
function firstSentence(about) {
	return `${about.split(". ")[0]?.replace(/\.$/, "")}.`;
}
function overview(commands, style = plainStyle) {
	return [
		"Usage: assay COMMAND [options]",
		"",
		...indented(commands.map(({ name, about }) => [name, firstSentence(about)]), style),
		"",
		"`assay COMMAND --help` shows the options. A command exits with 0 on success and with 1 if it is wrong or something must be fixed first."
	].join("\n");
}
async function runCommand(commands, argv, print, style = plainStyle) {
	if (argv.length === 0 || argv[0] === "--help" || argv[0] === "help") {
		print(overview(commands, style));
		return argv.length === 0 ? 2 : 0;
	}
	const command = commands.find(({ name }) => name.split(" ").every((word, i) => argv[i] === word));
	if (command === void 0) return withoutCommand(commands, argv, print, style);
	const rest = argv.slice(command.name.split(" ").length);
	if (rest.includes("--help")) {
		print(helpOf(command, style));
		return 0;
	}
	const args = readArguments(command, rest);
	return command.run(args, print, style);
}
/** The first word of a group of commands shows the group; anything else is a mistake. */
function withoutCommand(commands, argv, print, style) {
	const [first = "", second = ""] = argv;
	const group = commands.filter(({ name }) => name.startsWith(`${first} `));
	if (group.length > 0 && (second === "" || second === "--help")) {
		print(overview(group, style));
		return second === "" ? 2 : 0;
	}
	const typed = argv.filter((word) => !word.startsWith("-")).slice(0, 2).join(" ");
	const names = commands.map(({ name }) => name);
	const meant = didYouMean(typed, names, asTyped) || didYouMean(first, names.filter((name) => !name.includes(" ")), asTyped);
	const list = overview(group.length > 0 ? group : commands, style);
	throw new CommandError(`There is no command "${typed}".${meant}\n\n${meant === "" ? list : "`assay --help` lists the commands."}`);
}
const asTyped = (name) => `\`assay ${name}\``;
function readArguments(command, rest) {
	const known = Object.entries(command.options ?? {});
	const wrong = (message) => new CommandError(`${message}\n\n${usageOf(command)}\n\`assay ${command.name} --help\` tells more.`);
	const options = {};
	for (const [name, { type, multiple = false }] of known) options[name] = {
		type,
		multiple
	};
	let parsed;
	try {
		parsed = parseArgs({
			args: [...rest],
			options,
			allowPositionals: command.positionals !== void 0,
			strict: true
		});
	} catch (error) {
		const unknown = rest.find((word) => {
			const name = /^--([^=]+)/.exec(word)?.[1];
			return name !== void 0 && !Object.hasOwn(options, name);
		});
		const names = [...known.map(([name]) => name), "help"];
		throw unknown === void 0 ? wrong(error.message) : wrong(`There is no option ${unknown.split("=")[0]}.${didYouMean(unknown.slice(2).split("=")[0] ?? "", names, (name) => `--${name}`)}`);
	}
	for (const [name, option] of known) {
		const given = parsed.values[name];
		const removed = typeof given === "string" ? option.removedValues?.[given] : void 0;
		if (removed !== void 0) throw new CommandError(`--${name} ${given} is gone. ${removed}`);
		if (option.required && given === void 0) throw wrong(`--${name} is missing: ${option.about}`);
		if (option.values !== void 0 && typeof given === "string" && !option.values.includes(given)) throw wrong(`--${name} must be one of: ${option.values.join(", ")}.${didYouMean(given, option.values)}`);
	}
	const repeated = new Set(known.filter(([, option]) => option.multiple).map(([name]) => name));
	const values = Object.entries(parsed.values);
	return {
		options: Object.fromEntries(values.filter(([name]) => !repeated.has(name))),
		lists: Object.fromEntries(values.filter(([name]) => repeated.has(name))),
		positionals: parsed.positionals
	};
}
/** An error for display: the problem in colour, and what to do below it. */
function shownError(message, style) {
	const [first = "", ...rest] = message.split("\n");
	return [style.paint("red", first), ...rest].join("\n");
}
// packages/cli/src/key-pair.ts
/** The minimum size is generated quickly and suffices for a temporary endpoint; lasting keys are longer. */
const keyBits = {
	temporary: 2048,
	lasting: 3072
};
async function newPrivateKey(bits) {
	const { privateKey } = await promisify(generateKeyPair)("rsa", {
		modulusLength: bits,
		publicKeyEncoding: {
			type: "spki",
			format: "pem"
		},
		privateKeyEncoding: {
			type: "pkcs8",
			format: "pem"
		}
	});
	return privateKey;
}
function readPrivateKey(pem) {
	return createPrivateKey(pem);
}
/** The body that registers the public key under this name. It holds nothing of the private key. */
function registrationOf(privateKey, keyId) {
	const { n = "", e = "" } = createPublicKey(privateKey).export({ format: "jwk" });
	return {
		key_id: keyId,
		algorithm: "RSA-OAEP-256",
		key_type: "RSA",
		jwk: {
			kty: "RSA",
			n,
			e,
			alg: "RSA-OAEP-256",
			use: "enc",
			kid: keyId
		}
	};
}
// packages/cli/src/open-delivery.ts
/** Whether `X-Service-Signature` belongs to this body and secret. Its age is not checked. */
function isSignedWith(signature, body, secret) {
	return signature.split(" ").some((one) => {
		const [, time, given] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(one) ?? [];
		if (time === void 0 || given === void 0) return false;
		const expected = createHmac("sha256", secret).update(`${time}.${body}`).digest();
		return timingSafeEqual(Buffer.from(given, "hex"), expected);
	});
}
/** The key id that a sealed body names in its header, or null where it is no sealed body. */
function keyIdOf(body) {
	try {
		const kid = JSON.parse(Buffer.from(body.split(".")[0] ?? "", "base64url").toString())?.kid;
		return typeof kid === "string" ? kid : null;
	} catch {
		return null;
	}
}
/** Opens a compact JWE of the service. Throws where it was changed or sealed to another key. */
function decryptBody(body, privateKey) {
	const [header = "", ...rest] = body.trim().split(".");
	const [wrappedKey, nonce, text, tag] = rest.map((part) => Buffer.from(part, "base64url"));
	const { alg, enc } = JSON.parse(Buffer.from(header, "base64url").toString());
	if (alg !== "RSA-OAEP-256" || enc !== "A256GCM" || !wrappedKey || !nonce || !text || !tag) throw new Error("it is no body of a webhook");
	const padding = constants.RSA_PKCS1_OAEP_PADDING;
	const key = privateDecrypt({
		key: privateKey,
		padding,
		oaepHash: "sha256"
	}, wrappedKey);
	const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(header)).setAuthTag(tag);
	return Buffer.concat([decipher.update(text), decipher.final()]).toString();
}
// packages/cli/src/decrypt.command.ts
const decryptCommand = {
	name: "decrypt",
	about: "Verify and decrypt the body of a webhook that was saved, and print the event. FILE holds the body exactly as it came; `-` reads it from the standard input.",
	examples: ["decrypt body.txt --private-key private-key.pem --secret whsec_… --signature t=…,v1=…"],
	exitCodes: { 3: "The signature or the key does not fit." },
	positionals: "FILE",
	environment: "Nothing is sent anywhere.",
	options: {
		"private-key": {
			type: "string",
			about: "File with the private key (PEM).",
			placeholder: "FILE",
			required: true
		},
		secret: {
			type: "string",
			about: "The signing secret of the endpoint, to verify as well.",
			placeholder: "whsec_…"
		},
		signature: {
			type: "string",
			about: "The header X-Service-Signature of the request. Needed with --secret.",
			placeholder: "t=…,v1=…"
		}
	},
	run: async ({ options, positionals }, print) => {
		const [file, ...more] = positionals;
		if (file === void 0 || more.length > 0) throw new CommandError("Name one file with the body.");
		const body = read$1(file === "-" ? 0 : file);
		const { secret, signature } = options;
		if (secret === void 0 !== (signature === void 0)) throw new CommandError("--secret and --signature are given together, or neither.");
		if (typeof secret === "string" && !isSignedWith(String(signature), body, secret)) throw new CommandError("The signature does not fit: the body was changed, or signed with another secret.", 3);
		const privateKey = readPrivateKey(read$1(String(options["private-key"])));
		try {
			print(JSON.stringify(JSON.parse(decryptBody(body, privateKey)), null, 2));
		} catch {
			const kid = keyIdOf(body);
			throw new CommandError(kid === null ? "This is no body of a webhook: it must be a compact JWE, exactly as it came." : `It does not open with this key. It was encrypted to the key "${kid}".`, 3);
		}
		return 0;
	}
};
function read$1(file) {
	try {
		return readFileSync(file, "utf8");
	} catch (error) {
		throw new CommandError(error.message);
	}
}
// packages/cli/src/checks.ts
const usuallyWithinMs = 15e3;
const ok = (found) => ({
	state: "ok",
	found,
	todo: null
});
const warning = (found, todo) => ({
	state: "warning",
	found,
	todo
});
const problem = (found, todo) => ({
	state: "problem",
	found,
	todo
});
/** Runs all checks at once. A check that throws or hangs is reported and does not block the others. */
function runChecks(checks) {
	return Promise.all(checks.map(async ({ name, look, withinMs = usuallyWithinMs }) => {
		const late = new AbortController();
		const found = await Promise.race([look().catch((error) => problem(`The check failed: ${error.message}.`, "Fix what it names, then run the check again.")), setTimeout$1(withinMs, null, {
			signal: late.signal,
			ref: false
		}).catch(() => null).then(() => problem(`No answer within ${withinMs / 1e3} seconds.`, "See whether something in between drops connections."))]);
		late.abort();
		return {
			check: name,
			...found
		};
	}));
}
/** Prints the findings and returns the exit code: 1 for a problem, 0 for warnings at most. */
function printFindings(findings, { json, print, style }) {
	const count = (state) => findings.filter((finding) => finding.state === state).length;
	const [problems, warnings] = [count("problem"), count("warning")];
	if (json) {
		print(JSON.stringify({
			ok: problems === 0,
			problems,
			warnings,
			checks: findings
		}));
		return problems === 0 ? 0 : 1;
	}
	const width = Math.max(...findings.map(({ check }) => check.length)) + 2;
	for (const { check, state, found, todo } of findings) {
		print(`${style.mark(state)} ${style.paint("bold", check.padEnd(width))}${found}`);
		if (todo !== null) for (const line of todo.split("\n")) print(`${" ".repeat(4)}${style.paint("cyan", "→")} ${line}`);
	}
	print("");
	const counted = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
	print(problems + warnings === 0 ? style.paint("green", "All is well.") : style.paint(problems > 0 ? "red" : "yellow", `${counted(problems, "problem")}, ${counted(warnings, "warning")}.`));
	return problems === 0 ? 0 : 1;
}
// packages/cli/src/base-url.ts
/** Reads the address of the service as typed, without the path of a route. */
function readBase(given) {
	if (typeof given !== "string" || given === "") throw new CommandError("--url is missing: the address of the service, for example https://id.example.com.");
	const url = parseUrl(given);
	if (url === null || !/^https?:$/.test(url.protocol)) throw new CommandError(`--url must be an address like https://id.example.com, not "${given}".`);
	return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}`;
}
/** `URL.parse` is not in Node 20. */
function parseUrl(text) {
	return URL.canParse(text) ? new URL(text) : null;
}
// packages/cli/src/proxy.ts
const connectWithinMs = 15e3;
/**
* The proxy for an address, by the variables that curl and most programs read, or null. As in Go, loopback
* addresses never use a proxy: there they would mean another machine.
*/
function proxyFor(url, env) {
	const [name, given] = url.protocol === "https:" ? read(env, "https_proxy") : read(env, "http_proxy");
	if (given === "" || isLoopback(url.hostname) || isExempt(url, read(env, "no_proxy")[1])) return null;
	const proxy = parseUrl(given.includes("://") ? given : `http://${given}`);
	if (proxy === null || !/^https?:$/.test(proxy.protocol) || proxy.hostname === "") throw new CommandError(`${name} must be an address like http://proxy.example.com:3128.`);
	return proxy;
}
/** The name as it was found, and its value; in small letters it wins, as with curl. */
function read(env, name) {
	const upper = name.toUpperCase();
	return env[name] ? [name, env[name]] : [upper, env[upper] ?? ""];
}
function isLoopback(hostname) {
	return hostname === "localhost" || hostname === "[::1]" || isIP(hostname) === 4 && hostname.startsWith("127.");
}
function isExempt(url, list) {
	const port = url.port || (url.protocol === "https:" ? "443" : "80");
	return list.split(/[\s,]+/).some((entry) => {
		if (entry === "*") return true;
		const [, host = "", ofPort] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
		if (host === "" || ofPort !== void 0 && ofPort !== port) return false;
		return url.hostname === host || url.hostname.endsWith(`.${host}`);
	});
}
/** The proxy's authorization header, if its address has credentials. */
function authorizationFor({ username, password }) {
	if (username === "") return {};
	const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
	return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}
/** A connection through the proxy to this host, on which the caller starts TLS. */
function tunnel(proxy, host, port, signal) {
	const request$3 = proxy.protocol === "https:" ? request$1 : request;
	const target = `${host}:${port}`;
	return new Promise((resolve, reject) => {
		const sent = request$3(proxy, {
			method: "CONNECT",
			path: target,
			headers: {
				host: target,
				...authorizationFor(proxy)
			},
			agent: false,
			timeout: connectWithinMs,
			...signal === void 0 ? {} : { signal }
		});
		sent.once("connect", ({ statusCode }, socket) => {
			if (statusCode === 200) return resolve(socket);
			socket.destroy();
			reject(/* @__PURE__ */ new Error(`the proxy ${proxy.host} answered ${statusCode}`));
		});
		sent.once("response", ({ statusCode }) => {
			sent.destroy();
			reject(/* @__PURE__ */ new Error(`the proxy ${proxy.host} answered ${statusCode}`));
		});
		sent.once("timeout", () => sent.destroy(/* @__PURE__ */ new Error(`the proxy ${proxy.host} does not answer`)));
		sent.once("error", (error) => reject(error.code === void 0 ? error : /* @__PURE__ */ new Error(`the proxy ${proxy.host}: ${error.code}`)));
		sent.end();
	});
}
// packages/cli/src/look-at-certificate.ts
const answerWithinMs$2 = 1e4;
const dayMs = 864e5;
/** Automatic renewal happens a month before the end, so fewer days mean that it failed. */
const soonDays = 14;
/** The finding about a certificate with this end date. */
function judgeCertificate(host, validTo, now) {
	const days = Math.floor((validTo.getTime() - now.getTime()) / dayMs);
	const until = `The certificate of ${host} is good until ${validTo.toISOString().slice(0, 10)}`;
	if (days < 0) return problem(`${until}, which is over.`, "Renew it.");
	return days < soonDays ? warning(`${until}, ${days} days from now.`, "Renew it.") : ok(`${until}.`);
}
/** Connects like any client, through the proxy if there is one, and reads only the certificate. */
async function lookAtCertificate(host, port, now, proxy = null) {
	const way = proxy === null ? {
		host,
		port
	} : await tunnel(proxy, host, port).catch((error) => error);
	if (way instanceof Error) return problem(`No connection to ${host}: ${way.message}.`, "Look at the settings of the proxy.");
	return new Promise((resolve) => {
		const socket = connect({
			...way instanceof Socket ? { socket: way } : way,
			servername: host,
			timeout: answerWithinMs$2
		});
		const end = (found) => {
			socket.destroy();
			resolve(found);
		};
		socket.once("secureConnect", () => end(judgeCertificate(host, new Date(socket.getPeerCertificate().valid_to), now)));
		socket.once("timeout", () => end(problem(`${host} does not answer on port ${port}.`, "Look at the proxy in front.")));
		socket.once("error", (error) => end(problem(`No trusted connection to ${host}: ${error.code ?? error.message}.`, "Make sure that the certificate is for this name, is valid today, and comes with its chain. Name a private authority in NODE_EXTRA_CA_CERTS.")));
	});
}
/** Identifiers are `<prefix>_` and this many letters and digits. */
const idLengths = {
	vs: 64,
	va: 64,
	evt: 64,
	whd: 64,
	wha: 64,
	whe: 32,
	whk: 32,
	vst: 32
};
/** The header with which a user names the environment; an API key has a fixed one. Default: the first. */
const environmentHeader = "X-Service-Environment";
// packages/cli/src/send.ts
/**
* One request to the service, through the proxy of the environment. Node's `fetch` has no proxy before Node
* 22.21, and a library for it would be several times the size of this command.
*/
async function send(url, sending, env) {
	const proxy = proxyFor(url, env);
	if (proxy === null) return exchange(url.protocol === "https:" ? request$1(url, plain(sending)) : request(url, plain(sending)), sending);
	if (url.protocol === "http:") {
		const headers = {
			...sending.headers,
			...authorizationFor(proxy),
			host: url.host
		};
		return exchange((proxy.protocol === "https:" ? request$1 : request)(proxy, {
			...plain(sending),
			headers,
			path: url.href,
			agent: false
		}), sending);
	}
	const host = url.hostname.replace(/^\[|\]$/g, "");
	const socket = await tunnel(proxy, url.hostname, Number(url.port || 443), sending.signal);
	const secured = connect({
		socket,
		host,
		...isIP(host) === 0 ? { servername: host } : {}
	});
	return exchange(request$1(url, {
		...plain(sending),
		createConnection: () => secured
	}), sending);
}
function plain({ method, headers, body, signal }) {
	const length = body === void 0 ? {} : { "content-length": String(Buffer.byteLength(body)) };
	return {
		method,
		headers: {
			...headers,
			...length
		},
		signal
	};
}
function exchange(request, { body }) {
	return new Promise((resolve, reject) => {
		request.once("response", resolve);
		request.once("error", reject);
		request.end(body);
	});
}
// packages/cli/src/service.ts
const answerWithinMs$1 = 15e3;
const healthWithinMs = 1e4;
/** The service gives a test device 20 seconds. */
const toolWithinMs = 3e4;
/** The service sends a heartbeat every 15 seconds. After three missed ones the stream is dead. */
const silenceMs = 45e3;
/** The service answered, and refused. */
var RefusedError = class extends Error {
	status;
	code;
	hint;
	retryAfterMs;
	constructor(status, error, retryAfter) {
		super(error.message);
		this.status = status;
		this.code = error.code;
		this.hint = error.hint;
		this.retryAfterMs = /^\d+$/.test(retryAfter ?? "") ? Number(retryAfter) * 1e3 : null;
	}
};
/** The answer does not come from the service. */
var NotTheServiceError = class extends Error {};
/** The service did not answer. */
var UnreachableError = class extends Error {};
/** The API as the commands need it. */
var ServiceClient = class {
	url;
	#key;
	#env;
	#environment;
	/**
	* Reads only the proxy variables of `env`.
	* With an `environment`, the service refuses a key of the other one.
	*/
	constructor(url, key, env, environment = null) {
		this.url = url;
		this.#key = key;
		this.#env = env;
		this.#environment = environment;
	}
	/** The data of the answer, or null where there is none. */
	async call({ method, path, body, idempotencyKey }) {
		const signal = AbortSignal.timeout(answerWithinMs$1);
		const response = await this.#send(path, {
			method,
			headers: {
				...body === void 0 ? {} : { "content-type": "application/json" },
				...idempotencyKey === void 0 ? {} : { "idempotency-key": idempotencyKey }
			},
			...body === void 0 ? {} : { body: JSON.stringify(body) },
			signal
		});
		if (response.statusCode === 204) {
			response.resume();
			return null;
		}
		return (await readEnvelope(response)).data;
	}
	/** The answer of a tool of the MCP endpoint. */
	async callTool(name, given) {
		const message = {
			jsonrpc: "2.0",
			id: 1,
			method: "tools/call",
			params: {
				name,
				arguments: given
			}
		};
		const response = await this.#send("/mcp", {
			method: "POST",
			headers: {
				"content-type": "application/json",
				accept: "application/json, text/event-stream"
			},
			body: JSON.stringify(message),
			signal: AbortSignal.timeout(toolWithinMs)
		});
		if (statusOf$1(response) !== 200) {
			await readEnvelope(response);
			throw new NotTheServiceError(`answered ${statusOf$1(response)}, which is no answer of Assay`);
		}
		const { result, error } = JSON.parse(await readText(response));
		if (result === void 0) throw new NotTheServiceError(`says: ${error?.message}`);
		if (result.isError !== true) return result.structuredContent?.data;
		const { error: refusal } = JSON.parse(result.content[0]?.text ?? "");
		throw new RefusedError(409, refusal, null);
	}
	/** Whether it is well, in its own words, and its time. No key is needed for it. */
	async health() {
		const response = await this.#send("/healthz", {
			method: "GET",
			headers: {},
			signal: AbortSignal.timeout(healthWithinMs)
		});
		return {
			status: statusOf$1(response),
			text: await readText(response),
			date: response.headers.date ?? null
		};
	}
	/**
	* The messages of a stream, until it ends.
	* Comments are heartbeats; a stream that is silent for too long is closed.
	*/
	async *stream(path, signal) {
		const silence = new AbortController();
		const giveUp = () => silence.abort();
		let timer = setTimeout(giveUp, silenceMs);
		try {
			const response = await this.#send(path, {
				method: "GET",
				headers: { accept: "text/event-stream" },
				signal: eitherOf(signal, silence.signal)
			});
			if (!response.headers["content-type"]?.startsWith("text/event-stream")) {
				await readEnvelope(response);
				throw new NotTheServiceError("no stream came");
			}
			const decoder = new TextDecoder();
			let text = "";
			for await (const chunk of response) {
				clearTimeout(timer);
				timer = setTimeout(giveUp, silenceMs);
				text += decoder.decode(chunk, { stream: true });
				for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
					const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
					text = text.slice(end + 2);
					if (data !== void 0) yield JSON.parse(data);
				}
			}
		} catch (error) {
			if (silence.signal.aborted) throw new UnreachableError("nothing was heard for 45 seconds");
			throw error.code === "ECONNRESET" ? new UnreachableError("it was cut off") : error;
		} finally {
			clearTimeout(timer);
		}
	}
	async #send(path, sending) {
		const headers = {
			...sending.headers,
			authorization: `Bearer ${this.#key}`,
			...this.#environment === null ? {} : { [environmentHeader]: this.#environment }
		};
		try {
			return await send(new URL(`${this.url}${path}`), {
				...sending,
				headers
			}, this.#env);
		} catch (error) {
			throw unreachable(error);
		}
	}
};
const statusOf$1 = ({ statusCode = 0 }) => statusCode;
async function readText(response) {
	const chunks = [];
	try {
		for await (const chunk of response) chunks.push(chunk);
	} catch (error) {
		throw unreachable(error);
	}
	return Buffer.concat(chunks).toString("utf8");
}
async function readEnvelope(response) {
	const text = await readText(response);
	const status = statusOf$1(response);
	let envelope;
	try {
		envelope = JSON.parse(text);
		if (typeof envelope !== "object" || envelope === null || !("error" in envelope)) throw new Error();
	} catch {
		const { location } = response.headers;
		throw new NotTheServiceError(`answered ${status}${location === void 0 ? "" : ` with a redirect to ${location}`}, which is no answer of Assay`);
	}
	if (envelope.error !== null) throw new RefusedError(status, envelope.error, response.headers["retry-after"] ?? null);
	return envelope;
}
function unreachable(error) {
	if (error instanceof UnreachableError || error instanceof CommandError) return error;
	const { name, message, code, cause } = error;
	if (name === "TimeoutError" || cause?.name === "TimeoutError") return new UnreachableError("no answer came in time");
	return new UnreachableError(code ?? message);
}
/** `AbortSignal.any` is not in every Node 20. */
function eitherOf(...signals) {
	const either = new AbortController();
	for (const signal of signals) {
		if (signal.aborted) either.abort();
		signal.addEventListener("abort", () => either.abort(), { once: true });
	}
	return either.signal;
}
/** Waits, or returns early when the signal aborts. */
async function pause(milliseconds, signal) {
	await setTimeout$1(milliseconds, void 0, { signal }).catch(() => {});
}
const addressHint = "--url is the address of the service, without /v1 and /dashboard.";
/** Options that name the service and the credentials. */
const serviceOptions = {
	url: {
		type: "string",
		about: "Address of the service, for example https://id.example.com.",
		placeholder: "BASE"
	},
	key: {
		type: "string",
		about: "API key of your organization.",
		placeholder: "kk_…"
	}
};
const serviceEnvironment = "ASSAY_URL and ASSAY_API_KEY replace --url and --key, which keeps the key out of the process list. HTTPS_PROXY, HTTP_PROXY and NO_PROXY set a proxy.";
/** The service that the options or the environment name. `needs` says what the key must be. */
function readService(options, env, needs) {
	const url = readBase(options.url ?? env.ASSAY_URL);
	const key = options.key ?? env.ASSAY_API_KEY;
	if (typeof key !== "string" || key === "") throw new CommandError(`--key is missing: ${needs}. Make one in the dashboard under API keys.`);
	return {
		url,
		key
	};
}
/** A failure of the service as a sentence that says what to do, and the exit code that goes with it. */
function explain(error, url) {
	if (error instanceof UnreachableError) return new CommandError(`${url} cannot be reached (${error.message}). Is --url right, and is the service running?`, 4);
	if (error instanceof NotTheServiceError) return new CommandError(`${url} ${error.message}. ${addressHint}`, 4);
	if (!(error instanceof RefusedError)) return error;
	return error.status === 401 ? new CommandError(`The service does not know this API key: it was mistyped, disabled or deleted, or belongs to another installation than ${url}.`, 3) : new CommandError(`${error.message} ${error.hint}`, 3);
}
// packages/cli/src/doctor.command.ts
/**
* Every route refuses an unknown field after it has checked the key. So this probes a scope without writing.
*/
const unknownField = { asked_by_doctor: true };
/** A way to ask for each scope. */
const probes = [
	{
		scope: "sessions:read",
		method: "GET",
		path: "/v1/sessions?limit=1"
	},
	{
		scope: "sessions:write",
		method: "POST",
		path: "/v1/sessions"
	},
	{
		scope: "webhooks:read",
		method: "GET",
		path: "/v1/webhooks/endpoints?limit=1"
	},
	{
		scope: "webhooks:write",
		method: "POST",
		path: "/v1/webhooks/endpoints"
	},
	{
		scope: "analytics:read",
		method: "GET",
		path: "/v1/analytics/webhooks/overview"
	}
];
const doctorCommand = {
	name: "doctor",
	about: "Check that this machine can work with the service: connection, TLS certificate, clock, scopes of the API key, webhook endpoints. Changes nothing.",
	environment: serviceEnvironment,
	options: {
		...serviceOptions,
		json: {
			type: "boolean",
			about: "One JSON text with every check, for programs."
		}
	},
	examples: ["doctor --url https://id.example.com --key kk_…", "doctor --json"],
	exitCodes: {
		0: "All is well, or there are warnings only.",
		1: "At least one check found a problem, or the command is wrong."
	},
	run: (args, print, style) => examineForPartner(args, print, style, process.env)
};
async function examineForPartner({ options }, print, style, env) {
	const { url, key } = readService(options, env, "an API key");
	const service = new ServiceClient(url, key, env);
	const proxy = proxyFor(new URL(url), env);
	return printFindings(await style.progress("Looking…", () => runChecks(checksFor(service, proxy))), {
		json: options.json === true,
		print,
		style
	});
}
function checksFor(service, proxy) {
	const { hostname, protocol, port } = new URL(service.url);
	const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname);
	return [
		{
			name: "Service",
			look: () => lookAtService(service, proxy)
		},
		protocol === "https:" ? {
			name: "Certificate",
			look: () => lookAtCertificate(hostname, Number(port || 443), /* @__PURE__ */ new Date(), proxy)
		} : {
			name: "Certificate",
			look: async () => isLocal ? ok("The service is on this machine, without TLS.") : problem("The address begins with http: the API key is sent in the clear.", "Use the https address.")
		},
		{
			name: "Clock",
			look: () => lookAtClock(service)
		},
		{
			name: "API key",
			look: () => lookAtKey(service)
		},
		{
			name: "Endpoints",
			look: () => lookAtEndpoints(service)
		},
		{
			name: "Deliveries",
			look: () => lookAtDeliveries(service)
		}
	];
}
async function lookAtService(service, proxy) {
	const { url } = service;
	const way = proxy === null ? "" : ` through the proxy ${proxy.host}`;
	const todo = "Check --url, the name's DNS, and whether a proxy or firewall is in between.";
	try {
		const { status, text } = await service.health();
		return status === 200 && text.includes("\"ok\"") ? ok(`${url} answers${way}.`) : problem(`${url} answers ${status}${way}, and not as Assay does.`, todo);
	} catch (error) {
		return problem(`${url} cannot be reached${way}: ${error.message}.`, todo);
	}
}
/**
* The header has whole seconds, so differences under two are ignored. Signatures are valid for five minutes.
*/
async function lookAtClock(service) {
	const before = Date.now();
	const health = await service.health().catch(() => null);
	const serverTime = Date.parse(health?.date ?? "");
	if (Number.isNaN(serverTime)) return warning("The service sent no time.", "Look at the check of the service first.");
	const seconds = Math.abs(Math.round((serverTime + 500 - (before + Date.now()) / 2) / 1e3));
	const found = `This clock and the service's differ by ${seconds < 2 ? "less than 2" : seconds} seconds.`;
	const todo = "Have the clock set by the network (NTP): signatures of webhooks are refused when they seem too old.";
	return seconds < 5 ? ok(found) : seconds < 120 ? warning(found, todo) : problem(found, todo);
}
async function lookAtKey(service) {
	const asked = await readable(() => Promise.all(probes.map(async ({ scope, method, path }) => ({
		scope,
		answer: await statusOf(service, method, path)
	}))));
	if ("state" in asked) return asked;
	const answers = asked.data;
	const refused = answers.find(({ answer }) => answer.status === 401 || answer.status === 410);
	if (refused !== void 0) return problem(refused.answer.message, refused.answer.status === 410 ? "The organization is scheduled for deletion. An owner can cancel that in the dashboard." : "Take a key that is enabled, whole, and of this installation.");
	const may = answers.filter(({ answer }) => answer.status !== 403).map(({ scope }) => scope);
	if (may.length === 0) return problem("The key has no scope.", "Give it scopes in the dashboard under API keys.");
	const lacks = answers.filter(({ answer }) => answer.status === 403).map(({ scope }) => scope);
	return ok(`It may ${may.join(", ")}${lacks.length === 0 ? "" : `; not ${lacks.join(", ")}`}.`);
}
async function statusOf(service, method, path) {
	try {
		await service.call({
			method,
			path,
			...method === "POST" ? { body: unknownField } : {}
		});
		return {
			status: 200,
			message: ""
		};
	} catch (error) {
		if (error instanceof RefusedError) return {
			status: error.status,
			message: error.message
		};
		throw error;
	}
}
async function lookAtEndpoints(service) {
	const read = await readable(() => service.call({
		method: "GET",
		path: "/v1/webhooks/endpoints?limit=100"
	}));
	if ("state" in read) return read;
	const environment = read.data[0]?.environment;
	const [enabled, disabled] = [read.data.filter((each) => each.enabled), read.data.filter((each) => !each.enabled)];
	if (read.data.length === 0) return warning("There is no webhook endpoint.", "Add one in the dashboard, or receive webhooks here with `assay listen`.");
	const without = enabled.filter((each) => !each.has_active_key).map(({ name, url }) => printable(name ?? url));
	if (without.length > 0) return problem(`No active encryption key: ${without.join(", ")}. Nothing is sent there.`, "Make a key pair with `assay keys new FILE`, and register it for the endpoint.");
	const found = `${enabled.length} enabled with a key, in the ${environment} environment`;
	return disabled.length > 0 ? warning(`${found}; disabled: ${disabled.map(({ name, url, disabled_reason: why }) => `${printable(name ?? url)}${why === null ? "" : ` (${why})`}`).join(", ")}.`, "Enable them again in the dashboard when they work.") : ok(`${found}.`);
}
async function lookAtDeliveries(service) {
	const read = await readable(() => service.call({
		method: "GET",
		path: "/v1/webhooks/deliveries?limit=1"
	}));
	if ("state" in read) return read;
	const [last] = read.data;
	if (last === void 0) return ok("Nothing was sent yet.");
	const cause = last.last_error === null ? "" : `: ${causeOf(last)}`;
	const attempts = `${last.attempt_count} ${last.attempt_count === 1 ? "attempt" : "attempts"}`;
	const found = `The last one, of ${last.created_at}, ${last.status === "succeeded" ? "arrived" : `is ${last.status}`} after ${attempts}${cause}.`;
	if (last.status === "failed") return problem(found, adviceFor(last.last_error));
	return last.status === "pending" && last.attempt_count > 0 ? warning(found, adviceFor(last.last_error)) : ok(found);
}
function causeOf({ last_error: error, last_status_code: status }) {
	const words = printable(error ?? "").replaceAll("_", " ");
	return error === "status_not_2xx" && status !== null ? `your receiver answered ${status}` : words;
}
/** Advice for the error that the service reports; unknown errors get general advice. */
function adviceFor(error) {
	switch (error) {
		case "no_active_key": return "Make a key pair with `assay keys new FILE`, and register it for the endpoint. Events published without a key cannot be sent later.";
		case "endpoint_deleted":
		case "consent_withdrawn": return "Nothing: the endpoint no longer exists, or the event was retracted.";
		case "name_not_resolved":
		case "connection_failed":
		case "timeout": return "Make sure that your receiver runs, and that the service can reach its address within 15 seconds.";
		case "tls_failed": return "Make sure that your receiver's certificate is for its name, is valid today, and comes with its chain.";
		case "address_refused": return "Give the endpoint a public address: the service does not send to private ones.";
		case "redirect_not_followed": return "Give the endpoint the address that your receiver redirects to.";
		default: return "The dashboard shows your receiver's answer under Webhooks, Deliveries.";
	}
}
/** A missing scope of the key is no fault. */
async function readable(call) {
	try {
		return { data: await call() };
	} catch (error) {
		if (error instanceof RefusedError) return error.status === 403 ? ok("Not looked at: the key lacks webhooks:read.") : problem(error.message, error.hint);
		if (error instanceof UnreachableError || error instanceof NotTheServiceError) return problem(`Not looked at: ${error.message}.`, "Look at the check of the service first.");
		throw error;
	}
}
// packages/cli/src/keys-new.command.ts
const keysNew = {
	name: "keys new",
	about: "Make a key pair for a webhook endpoint. Writes the private key to FILE, which must not exist. Prints a shell command that registers the public key.",
	positionals: "FILE",
	examples: ["keys new private-key.pem", "keys new private-key.pem --name my-key-1"],
	environment: "Nothing is sent anywhere.",
	options: {
		name: {
			type: "string",
			about: "Your name for the key, its `key_id`. Left out, today's date.",
			placeholder: "KEY_ID"
		},
		json: {
			type: "boolean",
			about: "Print the body of the request alone."
		}
	},
	run: async ({ options, positionals }, print, style) => {
		const [file, ...more] = positionals;
		if (file === void 0 || more.length > 0) throw new CommandError("Name one file for the private key.");
		const pem = await style.progress("Making the key pair…", () => newPrivateKey(keyBits.lasting));
		try {
			writeFileSync(file, pem, {
				mode: 384,
				flag: "wx"
			});
		} catch (error) {
			throw new CommandError(`The private key could not be written: ${error.message}.`);
		}
		const name = typeof options.name === "string" ? options.name : (/* @__PURE__ */ new Date()).toISOString().slice(0, 10);
		const body = JSON.stringify(registrationOf(readPrivateKey(pem), name));
		print(options.json === true ? body : registration(body));
		return 0;
	}
};
/** In a shell, the command names each variable that is not set. */
function registration(body) {
	return `curl -sS "\${ASSAY_URL:?is the address of the service}/v1/webhooks/endpoints/\${ENDPOINT_ID:?is the id of your endpoint}/keys" \\
  -H "authorization: Bearer \${ASSAY_API_KEY:?is a key with webhooks:write}" -H "content-type: application/json" \\
  -d '${body.replaceAll("'", "'\\''")}'`;
}
// packages/cli/src/forward.ts
/** Why there is no answer. The contract has the same list; its schemas would double the size of the bundle. */
const answerErrors = [
	"timeout",
	"name_not_resolved",
	"connection_failed",
	"tls_failed",
	"response_invalid"
];
/** One second less than the service waits, so that the report arrives before it gives up. */
const answerWithinMs = 14e3;
/**
* Sends a request as the service would: same headers, order and body, and no redirects. Of the answer it
* reads only the status and `Retry-After`. Never throws.
*/
function forward({ url, headers: added, isCertificateChecked }, headers, body) {
	const request$2 = url.protocol === "https:" ? request$1 : request;
	const bytes = Buffer.from(body, "utf8");
	const own = [
		["host", url.host],
		["connection", "keep-alive"],
		...Object.entries(headers)
	];
	const isReplaced = (name = "") => added.some(([other]) => other.toLowerCase() === name);
	const list = [
		...own.filter(([name]) => !isReplaced(name)),
		...added,
		["content-length", String(bytes.length)]
	].flat();
	return new Promise((resolve) => {
		const sent = request$2(url, {
			method: "POST",
			headers: list,
			agent: false,
			rejectUnauthorized: isCertificateChecked
		}, (response) => {
			clearTimeout(timer);
			const retryAfter = response.headers["retry-after"];
			response.resume();
			response.on("error", () => {});
			resolve({
				status_code: response.statusCode ?? 0,
				...retryAfter === void 0 || retryAfter.length > 100 ? {} : { retry_after: retryAfter }
			});
		});
		const timer = setTimeout(() => {
			resolve({ error: "timeout" });
			sent.destroy();
		}, answerWithinMs);
		sent.on("error", (error) => {
			clearTimeout(timer);
			resolve({ error: errorOf(error.code ?? "") });
		});
		sent.end(bytes);
	});
}
function errorOf(code) {
	if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "name_not_resolved";
	if (code.startsWith("HPE_")) return "response_invalid";
	if (/^ERR_TLS|^ERR_SSL|CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) return "tls_failed";
	return "connection_failed";
}
function isSuccess(answer) {
	return "status_code" in answer && answer.status_code >= 200 && answer.status_code < 300;
}
// packages/cli/src/respond.ts
/** `500,timeout,200`: what the tries of each delivery are answered with, one after the other. */
function parseResponses(text) {
	return text.split(",").map((part) => {
		const word = part.trim();
		const status = Number(word);
		if (/^\d{3}$/.test(word) && status >= 200 && status <= 599) return { status_code: status };
		const error = answerErrors.find((name) => name === word);
		if (error === void 0) throw new CommandError(`--respond takes statuses from 200 to 599 and ${answerErrors.join(", ")}, not "${word}".`);
		return { error };
	});
}
/** The answer to an attempt, counted from 1. The last answer repeats. */
function responseTo(responses, attempt) {
	return responses[Math.min(attempt, responses.length) - 1] ?? null;
}
// packages/cli/src/stop-signals.ts
/**
* Signals this close together count as one: a terminal signals the whole process group, and each parent
* passes its copy on. Too short: a busy machine takes a copy for a second Ctrl-C and skips the cleanup.
*/
const copiesWithinMs = 2e3;
/**
* Calls `stop` at the first of these signals; a second one ends the process.
* Returns a function that stops watching.
*/
function onStopSignal(signals, stop) {
	let firstAt = null;
	const watched = signals.map((signal) => {
		const handle = () => {
			if (firstAt === null) {
				firstAt = performance.now();
				stop(signal);
			} else if (performance.now() - firstAt > copiesWithinMs) process.exit(130);
		};
		process.on(signal, handle);
		return {
			signal,
			handle
		};
	});
	return () => {
		for (const { signal, handle } of watched) process.off(signal, handle);
	};
}
const lookEveryMs$1 = 300;
/**
* Under `npx` a signal ends npx and its shell but does not reach this process. So it polls whether the shell
* is still its parent. Returns a function that stops polling.
*/
function onNpxEnded(env, stop) {
	if (env.npm_lifecycle_event !== "npx") return () => {};
	const parent = process.ppid;
	const timer = setInterval(() => {
		if (process.ppid === parent) return;
		clearInterval(timer);
		stop();
	}, lookEveryMs$1);
	timer.unref();
	return () => clearInterval(timer);
}
// packages/cli/src/listening.ts
const exitEnded = 5;
const secretHint = "If it was rotated, end this command with Ctrl-C and start it again: it registers a new endpoint, whose secret it knows.";
const eventTypesField = /`subscribed_event_types[^`]*`/;
const firstWaitMs = 1e3;
const maxWaitMs = 3e4;
const answerTries = 3;
const removeWithinMs = 5e3;
/** Fewer: after a lost connection, part of a burst is forwarded twice. */
const maxKeptAnswers = 200;
/** One listener, from its first line to its last. */
var Listening = class {
	#options;
	#ended = new AbortController();
	/**
	* Answers in progress, or not accepted by the service because the connection was lost. A repeated delivery
	* gets the same answer, so that the receiver gets each delivery once.
	*/
	#answers = /* @__PURE__ */ new Map();
	#state = {
		keyId: "",
		endpointId: null,
		signingSecret: null,
		registration: null
	};
	#privateKey = null;
	#exitCode = null;
	#hasConnected = false;
	#wasHinted = false;
	#isSecretWithheld = false;
	constructor(options) {
		this.#options = options;
	}
	/** Resolves with the exit code. */
	async run(replay) {
		const end = () => this.#ended.abort();
		const unwatch = [onStopSignal([
			"SIGINT",
			"SIGTERM",
			"SIGHUP"
		], end), onNpxEnded(process.env, end)];
		process.stdout.on("error", end);
		try {
			await this.#prepareKey();
			await this.#connectUntilEnded(replay);
			if (this.#exitCode !== null) return this.#exitCode;
			await this.#remove();
			return 0;
		} finally {
			for (const stop of unwatch) stop();
		}
	}
	/** The secret of the endpoint of the next start. Registers the endpoint if it does not exist yet. */
	async prepare() {
		try {
			await this.#prepareKey();
			await this.#ensureEndpoint();
		} catch (error) {
			throw this.#explain(error);
		}
		return {
			...this.#state,
			keyFile: this.#options.slot.keyFile
		};
	}
	/** Asks for an event to be sent again to an endpoint that another process listens for. */
	async replayTo(endpointId, eventId) {
		try {
			return await this.#replay(endpointId, eventId) ? 0 : 3;
		} catch (error) {
			throw this.#explain(error);
		}
	}
	async #prepareKey() {
		const { slot } = this.#options;
		const [state, pem] = [slot.read(), slot.readKey()];
		if (state !== null && pem !== null) {
			this.#state = state;
			this.#privateKey = readPrivateKey(pem);
			return;
		}
		const made = await newPrivateKey(keyBits.temporary);
		slot.writeKey(made);
		this.#privateKey = readPrivateKey(made);
		const { jwk } = registrationOf(this.#privateKey, "");
		const name = createHash("sha256").update(jwk.n).digest("hex").slice(0, 8);
		this.#remember({
			keyId: `listen-${name}`,
			endpointId: null,
			signingSecret: null,
			registration: null
		});
	}
	#remember(change) {
		this.#state = {
			...this.#state,
			...change
		};
		this.#options.slot.write(this.#state);
	}
	/** The previous endpoint if it still exists, or a new one. */
	async #ensureEndpoint() {
		const { service, screen, eventTypes } = this.#options;
		const known = this.#state.endpointId;
		if (known !== null) {
			const endpoint = await orNull(service.call({
				method: "GET",
				path: `/v1/webhooks/endpoints/${known}`
			}));
			if (endpoint !== null) {
				await this.#adjust(endpoint);
				return known;
			}
			if (this.#hasConnected) screen.warn("The endpoint was removed while we were away. A new one is registered; its secret differs.");
			this.#remember({
				endpointId: null,
				signingSecret: null,
				registration: null
			});
		}
		return this.#register(eventTypes);
	}
	async #adjust(endpoint) {
		const { service, screen, eventTypes } = this.#options;
		const change = {
			...endpoint.enabled ? {} : { enabled: true },
			...eventTypes === null || sameSet(eventTypes, endpoint.subscribed_event_types) ? {} : { subscribed_event_types: eventTypes }
		};
		if (Object.keys(change).length > 0) await service.call({
			method: "PATCH",
			path: `/v1/webhooks/endpoints/${endpoint.id}`,
			body: change
		});
		if (!endpoint.enabled) screen.warn("The endpoint was disabled; it is enabled again.");
		if (!endpoint.has_active_key) screen.warn("The endpoint has no active key, so nothing is sent. Reactivate its key in the dashboard.");
	}
	async #register(eventTypes) {
		const { service } = this.#options;
		if (this.#state.registration === null) this.#remember({ registration: randomUUID() });
		const body = {
			name: `assay listen on ${hostname()}`.slice(0, 120),
			encryption_key: registrationOf(this.#key(), this.#state.keyId),
			...eventTypes === null ? {} : { subscribed_event_types: eventTypes }
		};
		const idempotencyKey = createHash("sha256").update(`${this.#state.registration}${JSON.stringify(body)}`).digest("hex");
		const created = await service.call({
			method: "POST",
			path: "/v1/webhooks/listeners",
			body,
			idempotencyKey
		});
		this.#remember({
			endpointId: created.endpoint.id,
			signingSecret: created.signing_secret,
			registration: null
		});
		return created.endpoint.id;
	}
	async #remove() {
		const { service, screen } = this.#options;
		const id = this.#state.endpointId;
		if (id === null) return;
		const late = new Promise((_, reject) => {
			setTimeout(() => reject(new UnreachableError("no answer came in time")), removeWithinMs).unref();
		});
		try {
			await Promise.race([orNull(service.call({
				method: "DELETE",
				path: `/v1/webhooks/endpoints/${id}`
			})), late]);
			screen.line(`Endpoint ${id} removed.`);
			screen.record({
				type: "removed",
				endpoint_id: id
			});
		} catch (error) {
			screen.warn(`Endpoint ${id} could not be removed (${error.message}). It is removed by itself after an hour; started again before that, this command goes on with it.`);
			return;
		}
		this.#remember({
			endpointId: null,
			signingSecret: null,
			registration: null
		});
	}
	#key() {
		if (this.#privateKey === null) throw new Error("there is no key yet");
		return this.#privateKey;
	}
	async #connectUntilEnded(replay) {
		const { screen } = this.#options;
		let waitMs = firstWaitMs;
		let isNew = true;
		while (!this.#ended.signal.aborted) {
			let problem = "the service closed it";
			try {
				for await (const message of this.#open()) if (message.type === "ready") {
					this.#showReady(message);
					waitMs = firstWaitMs;
					if (isNew && replay !== null) await this.#replay(message.endpoint_id, replay);
					isNew = false;
				} else if (message.type === "delivery" && message.delivery !== null) this.#deal(message.delivery);
				else if (message.type === "ended" && message.reason !== "closing") {
					this.#end(message.reason);
					return;
				}
			} catch (error) {
				if (this.#ended.signal.aborted) return;
				const mayPass = error instanceof UnreachableError || error instanceof NotTheServiceError || error instanceof RefusedError && (error.status >= 500 || error.status === 409);
				if (!this.#hasConnected || !mayPass) throw this.#explain(error);
				problem = error.message;
				if (error instanceof RefusedError) waitMs = Math.max(waitMs, error.retryAfterMs ?? 0);
			}
			if (this.#ended.signal.aborted) return;
			const pauseMs = Math.round(waitMs * (.5 + Math.random() / 2));
			screen.warn(`Connection lost (${printable(problem)}). Trying again in ${(pauseMs / 1e3).toFixed(1)} s; deliveries wait.`);
			await pause(pauseMs, this.#ended.signal);
			waitMs = Math.min(2 * waitMs, maxWaitMs);
		}
	}
	async *#open() {
		const { service } = this.#options;
		const id = await this.#ensureEndpoint();
		yield* service.stream(`/v1/webhooks/listeners/${id}/stream`, this.#ended.signal);
	}
	#end(reason) {
		const { screen } = this.#options;
		this.#exitCode = exitEnded;
		screen.record({
			type: "ended",
			reason
		});
		if (reason === "taken_over") screen.warn("Another listener with the same key pair has taken over this endpoint. Ended.");
		else {
			screen.warn("The endpoint was removed elsewhere. Start again for a new one.");
			this.#remember({
				endpointId: null,
				signingSecret: null,
				registration: null
			});
		}
	}
	#showReady({ endpoint_id: id, environment, waiting }) {
		const { screen, service, slot, forwardTo, responses, isDecrypted } = this.#options;
		const { signingSecret, keyId } = this.#state;
		screen.record({
			type: "ready",
			url: service.url,
			environment,
			endpoint_id: id,
			signing_secret: signingSecret,
			key_id: keyId,
			private_key_file: slot.keyFile,
			waiting
		});
		const waits = waiting === null || waiting === 0 ? "" : ` ${waiting} ${waiting === 1 ? "delivery has" : "deliveries have"} waited.`;
		if (this.#hasConnected) {
			screen.line(screen.paint("green", `Connected again.${waits}`));
			return;
		}
		this.#hasConnected = true;
		const row = (name, value) => screen.line(`  ${screen.paint("dim", name.padEnd(16))}${value}`);
		screen.line(screen.paint("bold", `Listening at ${service.url} (${environment}).${waits} Ctrl-C removes the endpoint.`));
		row("Endpoint", id);
		row("Signing secret", signingSecret ?? "unknown");
		row("Encryption key", keyId);
		row("Private key", slot.keyFile);
		row("Answers", forwardTo !== null ? `those of ${forwardTo.url.href}${forwardTo.isCertificateChecked ? "" : ", whose certificate is not checked"}${isDecrypted ? ", which gets plain events" : ""}` : responses !== null ? `${responses.map((answer) => describe(answer)).join(", ")}, try by try` : "200 for valid deliveries, 401 for others; --forward-to forwards them to your receiver");
		if (forwardTo !== null && !isDecrypted) {
			screen.line("For the environment of your receiver:");
			screen.line(`  WEBHOOK_SECRET='${signingSecret}'`);
			screen.line(`  WEBHOOK_PRIVATE_KEY_FILE='${slot.keyFile}'`);
		}
		if (environment === "live") screen.warn("This organization is live: deliveries are about real people, and stay in your terminal.");
	}
	/** One delivery, from its arrival to its line. Never rejects. */
	async #deal(delivery) {
		const startedAt = performance.now();
		const { event, problem } = await this.#openEvent(delivery);
		const again = `${delivery.delivery_id} ${delivery.attempt}`;
		const known = this.#answers.get(again) ?? null;
		const answering = known ?? this.#answerFor(delivery, event, problem);
		if (this.#answers.size < maxKeptAnswers) this.#answers.set(again, answering);
		const answer = await answering;
		const durationMs = Math.round(performance.now() - startedAt);
		const recorded = await this.#answer(delivery, answer);
		if (this.#ended.signal.aborted) return;
		if (recorded !== null) this.#answers.delete(again);
		this.#show(delivery, {
			event,
			problem,
			answer,
			durationMs,
			recorded,
			isAgain: known !== null
		});
	}
	async #openEvent({ headers, body }) {
		let event;
		try {
			event = JSON.parse(decryptBody(body, this.#key()));
		} catch {
			return {
				event: null,
				problem: "it does not open with the key of this listener."
			};
		}
		const signature = headers["x-service-signature"] ?? "";
		const isSigned = () => {
			const { signingSecret } = this.#state;
			return signingSecret !== null && isSignedWith(signature, body, signingSecret);
		};
		if (isSigned() || await this.#takeOverSecret() && isSigned()) return {
			event,
			problem: null
		};
		return {
			event,
			problem: `the signature was made with another secret. ${secretHint}`
		};
	}
	/** After a rotation elsewhere: fetches the new secret if the credential may read it. API keys may not. */
	async #takeOverSecret() {
		if (this.#isSecretWithheld) return false;
		const { service, screen } = this.#options;
		const path = `/v1/webhooks/endpoints/${this.#state.endpointId}/signing-secret/reveal`;
		try {
			const { signing_secret: secret } = await service.call({
				method: "POST",
				path
			});
			if (secret === this.#state.signingSecret) return true;
			this.#remember({ signingSecret: secret });
			screen.record({
				type: "secret",
				endpoint_id: this.#state.endpointId,
				signing_secret: secret
			});
			screen.warn("The signing secret was rotated. The new one is used from now on; your receiver needs it too:");
			screen.line(`  WEBHOOK_SECRET='${secret}'`);
			return true;
		} catch (error) {
			if (error instanceof RefusedError && error.status === 403) this.#isSecretWithheld = true;
			return false;
		}
	}
	async #answerFor(delivery, event, problem) {
		const { forwardTo, responses, isDecrypted } = this.#options;
		const response = responses === null ? null : responseTo(responses, delivery.attempt);
		if (response !== null) return response;
		if (problem !== null && (forwardTo === null || isDecrypted)) return { status_code: 401 };
		if (forwardTo === null) return { status_code: 200 };
		if (!isDecrypted) return forward(forwardTo, delivery.headers, delivery.body);
		const { headers } = delivery;
		return forward(forwardTo, {
			"content-type": "application/json",
			...pick(headers, [
				"user-agent",
				"x-service-delivery-id",
				"x-service-event",
				"webhook-id"
			])
		}, JSON.stringify(event));
	}
	/** Null if the service no longer waits for the answer, or could not be reached. */
	async #answer({ delivery_id: id, lease }, answer) {
		const { service } = this.#options;
		const path = `/v1/webhooks/listeners/${this.#state.endpointId}/deliveries/${id}/answer`;
		for (let tries = 1; tries <= answerTries && !this.#ended.signal.aborted; tries++) try {
			return await service.call({
				method: "POST",
				path,
				body: {
					lease,
					...answer
				}
			});
		} catch (error) {
			if (error instanceof RefusedError && error.status < 500) return null;
			await pause(500 * tries, this.#ended.signal);
		}
		return null;
	}
	#show(delivery, shown) {
		const { screen, forwardTo, isPrinted } = this.#options;
		const { event, problem, answer, durationMs, recorded, isAgain } = shown;
		const at = /* @__PURE__ */ new Date();
		screen.record({
			type: "delivery",
			at: at.toISOString(),
			delivery_id: delivery.delivery_id,
			event_id: delivery.event_id,
			event_type: delivery.event_type,
			attempt: delivery.attempt,
			verified: problem === null,
			problem,
			forwarded_to: forwardTo?.url.href ?? null,
			..."status_code" in answer ? {
				status_code: answer.status_code,
				error: null
			} : {
				status_code: null,
				error: answer.error
			},
			duration_ms: durationMs,
			status: recorded?.status ?? null,
			next_attempt_at: recorded?.next_attempt_at ?? null,
			event,
			request: {
				headers: delivery.headers,
				body: delivery.body
			}
		});
		const colour = isSuccess(answer) ? "green" : "red";
		const next = recorded?.next_attempt_at ?? null;
		const after = recorded === null ? "not taken: it is sent again" : next !== null ? `next try ${clockTime(new Date(next))}` : recorded.status === "failed" ? "that was the last try" : "";
		screen.line([
			screen.paint("dim", clockTime(at)),
			screen.paint("cyan", printable(delivery.event_type)),
			delivery.event_id,
			`try ${delivery.attempt}`,
			screen.paint(colour, `→ ${describe(answer)}${isAgain ? " (as before)" : ""}`),
			`${durationMs} ms`,
			...after === "" ? [] : [screen.paint("yellow", after)]
		].join("  "));
		if (problem !== null) screen.warn(`  Not verified: ${problem}`);
		this.#hint(answer);
		if (isPrinted && event !== null) screen.line(JSON.stringify(event, null, 2).replace(/[\u007f-\u009f]/g, "�").replace(/^/gm, "  "));
	}
	/** Advice, once, about an unreachable receiver or an answer with consequences. */
	#hint(answer) {
		const { screen, forwardTo } = this.#options;
		if ("status_code" in answer && answer.status_code === 410) screen.warn("  410 disables the endpoint, as it would any other. Start again and it is enabled.");
		if (this.#wasHinted || forwardTo === null || !("error" in answer)) return;
		this.#wasHinted = true;
		const { host, href } = forwardTo.url;
		const why = answer.error === "timeout" ? `${host} did not answer within 14 s.` : answer.error === "tls_failed" ? `The certificate of ${host} is not trusted here; --skip-verify takes it all the same.` : `Nobody took it at ${href}: is your receiver running there?`;
		screen.warn(`  ${why} It counts as failed and is tried again on the ordinary schedule.`);
	}
	/** Retries the delivery to this endpoint only: replaying the event would send it to the others too. */
	async #replay(endpointId, eventId) {
		const { service, screen } = this.#options;
		const query = new URLSearchParams({
			endpoint_id: endpointId,
			event_id: eventId
		});
		const [delivery] = await service.call({
			method: "GET",
			path: `/v1/webhooks/deliveries?${query}`
		});
		if (delivery === void 0) {
			screen.warn(`${printable(eventId)} was not sent to this endpoint, so it cannot be sent again: the service seals an event when it happens, for the endpoints that there are, and keeps nothing that it could seal later.`);
			return false;
		}
		try {
			await service.call({
				method: "POST",
				path: `/v1/webhooks/deliveries/${delivery.id}/retry`
			});
			screen.line(`${eventId} is sent again.`);
			return true;
		} catch (error) {
			if (!(error instanceof RefusedError) || error.status !== 409) throw error;
			screen.warn(error.code === "WEBHOOK_PAYLOAD_EXPIRED" ? `${eventId} cannot be sent again: the service deletes a payload when it has been taken. Send a test event, or run another sandbox session.` : `${eventId} is being sent right now.`);
			return false;
		}
	}
	/** The failure as a message that says what to do, with its exit code. */
	#explain(error) {
		const { url } = this.#options.service;
		if (!(error instanceof RefusedError)) return explain(error, url);
		if (error.status === 404 || error.status === 405) return new CommandError(`${url} has no listeners. ${addressHint} Or the service there is older than this command.`, 4);
		if (this.#options.eventTypes !== null && eventTypesField.test(error.message)) return new CommandError(error.message.replace(eventTypesField, "--events"), 3);
		return explain(error, url);
	}
};
async function orNull(answer) {
	try {
		return await answer;
	} catch (error) {
		if (error instanceof RefusedError && error.status === 404) return null;
		throw error;
	}
}
function describe(answer) {
	return "status_code" in answer ? String(answer.status_code) : answer.error.replaceAll("_", " ");
}
function clockTime(at) {
	return at.toTimeString().slice(0, 8);
}
function sameSet(one, other) {
	return one.length === other.length && one.every((item) => other.includes(item));
}
function pick(from, names) {
	return Object.fromEntries(names.flatMap((name) => from[name] === void 0 ? [] : [[name, from[name]]]));
}
// packages/cli/src/screen.ts
/**
* Output of a listener. By default everything goes to the standard output. With `json`, the standard output
* has one JSON text per line, and texts for people go to the standard error.
*/
var Screen = class {
	#json;
	#style;
	constructor(json, env) {
		this.#json = json;
		this.#style = styleOf(json ? process.stderr : process.stdout, process.stderr, env);
	}
	paint(colour, text) {
		return this.#style.paint(colour, text);
	}
	line(text) {
		(this.#json ? process.stderr : process.stdout).write(`${text}\n`);
	}
	/** A message that asks the user to act. */
	warn(text) {
		this.line(this.paint("yellow", text));
	}
	record(value) {
		if (this.#json) process.stdout.write(`${JSON.stringify(value)}\n`);
	}
};
// packages/cli/src/state.ts
const maxSlots = 20;
const touchEveryMs = 2e4;
/** A lock this old is left over from before a reboot, even if another process has its process id now. */
const staleAfterMs = 9e4;
/** The folder for state of commands on this system. */
function stateFolder(env) {
	if (env.ASSAY_STATE_DIR) return path.resolve(env.ASSAY_STATE_DIR);
	if (platform() === "win32") return path.join(env.LOCALAPPDATA ?? path.join(homedir(), "AppData", "Local"), "assay");
	return path.join(env.XDG_STATE_HOME || path.join(homedir(), ".local", "state"), "assay");
}
/**
* The state of one listener, locked against other processes. Listeners that run at the same time with one key
* have a slot each. A new one takes the first free slot, so a restart continues the state of a killed
* listener. Only the owner can read the files.
*/
var Slot = class Slot {
	#base;
	#timer;
	constructor(base) {
		this.#base = base;
		this.#timer = setInterval(() => touch(`${base}.lock`), touchEveryMs);
		this.#timer.unref();
	}
	/** `running` is the state of a listener that has the first slot now, or null. */
	static take(folder, url, key) {
		mkdirSync(folder, {
			recursive: true,
			mode: 448
		});
		const name = createHash("sha256").update(`${url}\n${key}`).digest("hex").slice(0, 16);
		let running = null;
		for (let at = 1; at <= maxSlots; at++) {
			const base = path.join(folder, `listen-${name}-${at}`);
			if (lock(`${base}.lock`)) return {
				slot: new Slot(base),
				running
			};
			const state = readState(`${base}.json`);
			if (state !== null) running ??= {
				...state,
				keyFile: `${base}.pem`
			};
		}
		throw new Error(`${maxSlots} listeners run with this key already.`);
	}
	get keyFile() {
		return `${this.#base}.pem`;
	}
	read() {
		return readState(`${this.#base}.json`);
	}
	write(state) {
		writePrivately(`${this.#base}.json`, `${JSON.stringify(state, null, 2)}\n`);
	}
	readKey() {
		try {
			return readFileSync(this.keyFile, "utf8");
		} catch {
			return null;
		}
	}
	writeKey(pem) {
		writePrivately(this.keyFile, pem);
	}
	release() {
		clearInterval(this.#timer);
		rmSync(`${this.#base}.lock`, { force: true });
	}
};
function readState(file) {
	try {
		const state = JSON.parse(readFileSync(file, "utf8"));
		return typeof state.keyId === "string" ? state : null;
	} catch {
		return null;
	}
}
/** All of it or nothing: a process that is killed in the middle must not leave half a key. */
function writePrivately(file, text) {
	const beside = `${file}.${process.pid}-${randomBytes(4).toString("hex")}`;
	writeFileSync(beside, text, { mode: 384 });
	chmodSync(beside, 384);
	renameSync(beside, file);
}
function lock(file) {
	for (let tries = 0; tries < 3; tries++) {
		try {
			writeFileSync(file, String(process.pid), {
				mode: 384,
				flag: "wx"
			});
			return true;
		} catch (error) {
			if (error.code !== "EEXIST") throw error;
		}
		if (isHeld(file)) return false;
		rmSync(file, { force: true });
	}
	return false;
}
function isHeld(file) {
	try {
		const pid = Number(readFileSync(file, "utf8"));
		if (Date.now() - statSync(file).mtimeMs > staleAfterMs) return false;
		return pid === 0 || isAlive(pid);
	} catch {
		return false;
	}
}
function isAlive(pid) {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return error.code === "EPERM";
	}
}
function touch(file) {
	try {
		const now = /* @__PURE__ */ new Date();
		utimesSync(file, now, now);
	} catch {}
}
// packages/cli/src/listen.command.ts
const eventIdPattern = new RegExp(`^evt_[A-Za-z0-9]{${idLengths.evt}}$`);
const listenCommand = {
	name: "listen",
	about: "Receive webhooks on this machine, which need not be reachable. Registers a temporary endpoint with a new key pair, then verifies, decrypts, shows and forwards deliveries. Your receiver's answer counts as the answer to the service, retries included. Ctrl-C removes the endpoint. After a kill, the next start continues with the same endpoint and its waiting deliveries.",
	environment: `${serviceEnvironment} --forward-to is always direct. ASSAY_STATE_DIR is where the key pair is kept, NO_COLOR switches colours off.`,
	examples: [
		"listen --url https://id.example.com --key kk_… --forward-to localhost:4000/hook",
		"listen --print-secret",
		"listen --respond 500,timeout,200"
	],
	exitCodes: {
		0: "Ended with Ctrl-C.",
		3: "The service refuses.",
		4: "The service cannot be reached.",
		5: "The endpoint was removed or taken over."
	},
	options: {
		...serviceOptions,
		key: {
			...serviceOptions.key,
			about: "API key with the scopes webhooks:read and webhooks:write."
		},
		"forward-to": {
			type: "string",
			about: "Send each delivery on to this address, with the same headers and body. Without it, a delivery that verifies is answered with 200, any other with 401.",
			placeholder: "URL"
		},
		header: {
			type: "string",
			multiple: true,
			about: "Send this header on as well, for example 'Host: shop.test'. May be given several times.",
			placeholder: "'NAME: VALUE'"
		},
		"skip-verify": {
			type: "boolean",
			about: "Forward to an https address also where its certificate is not trusted here."
		},
		decrypted: {
			type: "boolean",
			about: "Forward the plain event as JSON in place of the original request."
		},
		events: {
			type: "string",
			about: "Only events of these types, comma separated.",
			placeholder: "TYPES"
		},
		respond: {
			type: "string",
			about: "Reply without a receiver: attempt 1 gets the first value, attempt 2 the second; the last value repeats. Statuses, or timeout, connection_failed, ….",
			placeholder: "500,timeout"
		},
		replay: {
			type: "string",
			about: "Send this event again now, as long as this endpoint did not take it. Where a listener with the same key runs already, it is sent to that one, and this command ends.",
			placeholder: "evt_…"
		},
		"print-secret": {
			type: "boolean",
			about: "Print the signing secret that the next start on this machine uses, and end. With --json also where the private key is."
		},
		print: {
			type: "boolean",
			about: "Show the decrypted events also when they are forwarded."
		},
		json: {
			type: "boolean",
			about: "One JSON text per line on the standard output; all else goes to the standard error."
		}
	},
	run: async ({ options, lists }, print) => {
		const env = process.env;
		const { url, key } = readService(options, env, "an API key with the scopes webhooks:read and webhooks:write");
		const forwardTo = readReceiver({
			options,
			lists
		});
		const responses = typeof options.respond === "string" ? parseResponses(options.respond) : null;
		if (forwardTo !== null && responses !== null) throw new CommandError("--forward-to and --respond exclude each other: one of them answers.");
		const replay = readEventId(options.replay);
		const isSecretAsked = options["print-secret"] === true;
		const { slot, running } = takeSlot(url, key);
		try {
			const listening = new Listening({
				service: new ServiceClient(url, key, env),
				slot,
				screen: new Screen(options.json === true || isSecretAsked, env),
				forwardTo,
				isDecrypted: options.decrypted === true,
				isPrinted: options.print === true || forwardTo === null,
				responses,
				eventTypes: readTypes(options.events)
			});
			if (isSecretAsked) {
				printSecret(running !== null && running.signingSecret !== null ? running : await listening.prepare(), options.json === true, print);
				return 0;
			}
			return replay !== null && running !== null && running.endpointId !== null ? await listening.replayTo(running.endpointId, replay) : await listening.run(replay);
		} finally {
			slot.release();
		}
	}
};
function printSecret(prepared, json, print) {
	const { endpointId, signingSecret, keyFile: privateKeyFile } = prepared;
	print(json ? JSON.stringify({
		endpoint_id: endpointId,
		signing_secret: signingSecret,
		private_key_file: privateKeyFile
	}) : signingSecret ?? "");
}
function readReceiver({ options, lists }) {
	const given = options["forward-to"];
	if (typeof given !== "string") {
		const useless = [
			"decrypted",
			"skip-verify",
			"header"
		].find((name) => name in options || name in lists);
		if (useless === void 0) return null;
		throw new CommandError(`--${useless} needs --forward-to.`);
	}
	return {
		url: readForward(given),
		headers: (lists.header ?? []).map(readHeader),
		isCertificateChecked: options["skip-verify"] !== true
	};
}
/** `localhost:4000/hook` or `4000/hook` will do: a receiver on this machine rarely has a certificate. */
function readForward(given) {
	const local = /^\d+(\/|$)/.test(given) ? `127.0.0.1:${given}` : given;
	const url = parseUrl(local.includes("://") ? local : `http://${local}`);
	if (url === null || !/^https?:$/.test(url.protocol)) throw new CommandError(`--forward-to must be an address like localhost:4000/hook, not "${given}".`);
	return url;
}
function readHeader(given) {
	const colon = given.indexOf(":");
	const [name, value] = [given.slice(0, colon).trim(), given.slice(colon + 1).trim()];
	try {
		if (colon < 0 || /^(content-length|transfer-encoding|connection)$/i.test(name)) throw new Error();
		validateHeaderName(name);
		validateHeaderValue(name, value);
	} catch {
		throw new CommandError(`--header must be like 'X-Trace: 1', not "${printable(given)}".`);
	}
	return [name, value];
}
/** Looked at before anything is registered, so that a slip of the hand leaves no endpoint behind. */
function readEventId(given) {
	if (typeof given !== "string") return null;
	if (!eventIdPattern.test(given)) throw new CommandError(`--replay must be the id of an event, "evt_" and ${idLengths.evt} letters and digits, not "${printable(given)}".`);
	return given;
}
function readTypes(given) {
	if (typeof given !== "string") return null;
	return given.split(",").map((type) => type.trim());
}
function takeSlot(url, key) {
	const folder = stateFolder(process.env);
	try {
		return Slot.take(folder, url, key);
	} catch (error) {
		throw new CommandError(`The key pair cannot be kept in ${folder}: ${error.message} Set ASSAY_STATE_DIR to a folder that can be written.`);
	}
}
// packages/cli/src/trigger.command.ts
/** The shortest life of a sandbox session. */
const shortestLifeSeconds = 60;
/** A session is found expired by a job that runs every few seconds. */
const expiryWithinMs = 6e4;
const lookEveryMs = 1e3;
const withoutEndpoint = "No endpoint receives it. Start `assay listen` first, or add an endpoint in the dashboard.";
/** How to trigger each event. A new type of the contract does not compile without an entry. */
const makers = {
	"verification.session.succeeded": (service, wish) => finished(service, wish, "succeeded", "passport-valid"),
	"verification.session.failed": (service, wish) => finished(service, wish, "failed", "passport-expired"),
	"verification.session.expired": expired,
	"verification.session.cancelled": async (service, wish) => {
		const { id } = await create(service, wish);
		await service.call({
			method: "POST",
			path: `/v1/sessions/${id}/cancel`
		});
		return outcome(service, id, "cancelled");
	},
	"webhook.endpoint.test": tested
};
const eventTypes = Object.keys(makers);
const triggerCommand = {
	name: "trigger",
	about: "Trigger an event in the sandbox. A real session runs to its outcome, and your endpoints receive the same events as from a person. EVENT is an event type, or its last word.",
	positionals: "EVENT",
	examples: [
		"trigger verification.session.succeeded",
		"trigger failed --passport passport-another-face",
		"trigger succeeded --fields family_name,age_over_18 --reference order-7"
	],
	environment: serviceEnvironment,
	exitCodes: {
		3: "The service refuses, or the session ended in another way.",
		4: "The service cannot be reached."
	},
	options: {
		...serviceOptions,
		fields: {
			type: "string",
			about: "Fields that the person shares, separated by commas. Default: family_name,given_names,date_of_birth.",
			placeholder: "CLAIMS"
		},
		passport: {
			type: "string",
			about: "The test document that the person has, for an outcome of your choice.",
			placeholder: "ID"
		},
		reference: {
			type: "string",
			about: "The `client_reference_id` of the session.",
			placeholder: "TEXT"
		},
		endpoint: {
			type: "string",
			about: "Send the event to this endpoint only.",
			placeholder: "whe_…"
		},
		json: {
			type: "boolean",
			about: "Print the result as one line of JSON."
		}
	},
	run: async ({ options, positionals }, print, style) => {
		const type = readType(positionals);
		const { url, key } = readService(options, process.env, "a sandbox API key with all scopes for sessions and webhooks");
		const text = (name) => typeof options[name] === "string" ? options[name] : null;
		const wish = {
			fields: (text("fields") ?? "family_name,given_names,date_of_birth").split(",").filter((field) => field !== ""),
			reference: text("reference"),
			endpoint: text("endpoint"),
			document: text("passport")
		};
		const service = new ServiceClient(url, key, process.env, "sandbox");
		try {
			tell({
				type,
				...await style.progress(waitingFor(type), () => makers[type](service, wish))
			}, {
				json: options.json === true,
				print,
				style
			});
			return 0;
		} catch (error) {
			throw explain(error, url);
		}
	}
};
function readType([typed, ...more]) {
	if (typed === void 0 || more.length > 0) throw new CommandError(`Name one event: ${eventTypes.join(", ")}.`);
	const type = eventTypes.find((each) => each === typed || each.endsWith(`.${typed}`));
	if (type !== void 0) return type;
	const lastWords = eventTypes.map((each) => each.slice(each.lastIndexOf(".") + 1));
	const meant = didYouMean(typed, eventTypes) || didYouMean(typed, lastWords);
	throw new CommandError(`There is no event ${printable(typed)}.${meant} There are: ${eventTypes.join(", ")}.`);
}
function waitingFor(type) {
	return type === "verification.session.expired" ? `The session lives for ${shortestLifeSeconds} seconds…` : "The session is on its way…";
}
function tell({ type, ...happened }, { json, print, style }) {
	if (json) {
		print(JSON.stringify({
			event_type: type,
			...happened
		}));
		return;
	}
	const { event_id: event, session_id: session, deliveries } = happened;
	print(`${style.mark("ok")} ${style.paint("cyan", type)}  ${event}${session === null ? "" : `  ${session}`}`);
	print(deliveries === 0 ? style.paint("yellow", withoutEndpoint) : `Sent to ${deliveries} ${deliveries === 1 ? "endpoint" : "endpoints"}.`);
}
function create(service, wish, more = {}) {
	const fields = wish.fields.map((field) => [field, {
		required: true,
		reason: "A test of this event"
	}]);
	return service.call({
		method: "POST",
		path: "/v1/sessions",
		body: {
			share_fields: Object.fromEntries(fields),
			...wish.reference === null ? {} : { client_reference_id: wish.reference },
			...wish.endpoint === null ? {} : { webhook_endpoint_id: wish.endpoint },
			...more
		}
	});
}
/** The service itself holds a test document to its reader, as it does for agents. */
async function finished(service, wish, wanted, usual) {
	const document = wish.document ?? usual;
	const { id } = await create(service, wish);
	const { status } = await service.callTool("finishSandboxSession", {
		session_id: id,
		document
	});
	if (status === wanted) return outcome(service, id, wanted);
	throw new CommandError(`With ${printable(document)} the session ${id} ended as ${status}, not as ${wanted}. Name another document with --passport.`, 3);
}
async function expired(service, wish) {
	const { id } = await create(service, wish, { expires_in_seconds: shortestLifeSeconds });
	const giveUpAt = performance.now() + shortestLifeSeconds * 1e3 + expiryWithinMs;
	while (performance.now() < giveUpAt) {
		if ((await eventsOf(service, id, "expired")).length > 0) return outcome(service, id, "expired");
		await pause(lookEveryMs, new AbortController().signal);
	}
	throw new CommandError(`The session ${id} did not expire in time. Does a worker of the service run?`, 4);
}
/** To the endpoint that was named, or to the only one. */
async function tested(service, { endpoint }) {
	const id = endpoint ?? await onlyEndpoint(service);
	const path = `/v1/webhooks/endpoints/${encodeURIComponent(id)}/test`;
	const { event, deliveries } = await service.call({
		method: "POST",
		path
	});
	return {
		event_id: event.id,
		session_id: null,
		deliveries: deliveries.length
	};
}
async function onlyEndpoint(service) {
	const [first, ...more] = (await service.call({
		method: "GET",
		path: "/v1/webhooks/endpoints?limit=100"
	})).filter(({ enabled }) => enabled);
	if (first === void 0) throw new CommandError(withoutEndpoint, 3);
	if (more.length === 0) return first.id;
	throw new CommandError(`A test event goes to one endpoint. Name it with --endpoint: ${[first, ...more].map(({ id }) => id).join(", ")}.`);
}
function eventsOf(service, sessionId, status) {
	const query = new URLSearchParams({
		session_id: sessionId,
		type: `verification.session.${status}`
	});
	return service.call({
		method: "GET",
		path: `/v1/webhooks/events?${query}`
	});
}
/** The event that the end of the session has published, and how many endpoints get it. */
async function outcome(service, sessionId, status) {
	const [event] = await eventsOf(service, sessionId, status);
	if (event === void 0) throw new CommandError(`The session ${sessionId} has published no event.`, 3);
	const path = `/v1/webhooks/deliveries?event_id=${event.id}&limit=100`;
	const deliveries = await service.call({
		method: "GET",
		path
	});
	return {
		event_id: event.id,
		session_id: sessionId,
		deliveries: deliveries.length
	};
}
// packages/cli/src/partner-commands.ts
/** Commands that partners run without a checkout of the service. */
const partnerCommands = [
	listenCommand,
	triggerCommand,
	decryptCommand,
	keysNew,
	doctorCommand
];
// packages/cli/src/main.ts
const { argv, env, stdout, stderr } = process;
try {
	const style = styleOf(stdout, stderr, env);
	process.exitCode = await runCommand(partnerCommands, argv.slice(2), (line) => console.log(line), style);
} catch (error) {
	const isMistake = error instanceof CommandError;
	console.error(isMistake ? shownError(error.message, styleOf(stderr, stderr, env)) : error);
	process.exitCode = isMistake ? error.exitCode : 1;
}
export {};
