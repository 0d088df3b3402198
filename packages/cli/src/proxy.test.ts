import assert from "node:assert/strict";
import test from "node:test";
import { proxyFor } from "./proxy.ts";

const through = (url: string, env: NodeJS.ProcessEnv) => proxyFor(new URL(url), env)?.href ?? null;
const proxy = "http://proxy.acme.test:3128/";

test("the proxy of an address is that of its protocol, small letters first", () => {
  const env = {
    HTTPS_PROXY: "http://other.acme.test:1",
    https_proxy: proxy,
    HTTP_PROXY: "proxy.acme.test:8080",
  };
  assert.equal(through("https://id.example.com", env), proxy);
  assert.equal(through("http://id.example.com", env), "http://proxy.acme.test:8080/");
  assert.equal(through("http://id.example.com", { HTTPS_PROXY: proxy }), null);
  assert.equal(through("https://id.example.com", { HTTPS_PROXY: "" }), null);
});

test("what NO_PROXY names is asked directly, and so is this machine", () => {
  const exempt = [
    "example.com",
    ".example.com",
    "*.example.com",
    "*",
    "a.test, id.example.com:443",
    "x example.com",
  ];
  for (const NoProxy of exempt)
    assert.equal(through("https://id.example.com", { HTTPS_PROXY: proxy, NO_PROXY: NoProxy }), null, NoProxy);
  for (const NoProxy of ["", "d.example.com", "example.com:8443", "notexample.com", "ample.com"])
    assert.equal(
      through("https://id.example.com", { HTTPS_PROXY: proxy, NO_PROXY: NoProxy }),
      proxy,
      NoProxy,
    );
  for (const url of ["https://localhost:3000", "https://127.0.0.1:3000", "https://[::1]:3000"])
    assert.equal(through(url, { HTTPS_PROXY: proxy }), null, url);
});
