import assert from "node:assert/strict";

export type PropertyValue = string | boolean | readonly PropertyValue[] | PropertyDictionary;
export type PropertyDictionary = { readonly [key: string]: PropertyValue };

/** A property list in XML, of the kinds of values that ours have. Anything else is refused. */
export function readXmlPropertyList(text: string): PropertyDictionary {
  const body = text.replace(/^<\?xml[^>]*\?>\s*<!DOCTYPE plist [^>]*>\s*/, "");
  assert.notEqual(body, text, "begins as a property list does");
  const tokens = body.match(/<[^>]+>|[^<]+/g) ?? [];
  let at = 0;
  const next = () => {
    while (/^\s*$/.test(tokens[at] ?? "end")) at += 1;
    return tokens[at++] ?? "";
  };
  const expect = (token: string) => assert.equal(next(), token);
  const textOf = (name: string): string => {
    const content = next();
    if (content === `</${name}>`) return "";
    assert.ok(!content.startsWith("<"), `text in <${name}>`);
    expect(`</${name}>`);
    return content
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&");
  };
  const valueAt = (token: string): PropertyValue => {
    switch (token) {
      case "<true/>":
        return true;
      case "<false/>":
        return false;
      case "<string>":
        return textOf("string");
      case "<array/>":
        return [];
      case "<dict/>":
        return {};
      case "<array>": {
        const values: PropertyValue[] = [];
        for (let item = next(); item !== "</array>"; item = next()) values.push(valueAt(item));
        return values;
      }
      case "<dict>": {
        const entries: Record<string, PropertyValue> = {};
        for (let item = next(); item !== "</dict>"; item = next()) {
          assert.equal(item, "<key>");
          const key = textOf("key");
          assert.ok(!Object.hasOwn(entries, key), `${key} is there once`);
          entries[key] = valueAt(next());
        }
        return entries;
      }
      default:
        throw new assert.AssertionError({ message: `${token} is no value of a property list` });
    }
  };
  expect('<plist version="1.0">');
  const value = valueAt(next());
  expect("</plist>");
  assert.equal(next(), "");
  return dictionary(value);
}

/**
 * A property list in the older form of project files and string tables: `{ key = value; }`, `( value, value
 * )`, quoted or bare words, comments. With `bare` there are no outer braces.
 */
export function readTextPropertyList(
  text: string,
  { bare = false }: { bare?: boolean } = {},
): PropertyDictionary {
  const tokens = [...text.matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\]|\\.)*"|[\w$./-]+|[{}()=;,]|(\S)/g)]
    .filter(([token]) => !token.startsWith("/*") && !token.startsWith("//"))
    .map(([token, stray]) => {
      assert.equal(stray, undefined, `a stray ${token}`);
      return token;
    });
  let at = 0;
  const next = () => tokens[at++] ?? "";
  const expect = (token: string) => assert.equal(next(), token, tokens.slice(at - 6, at).join(" "));
  const wordOf = (token: string): string => {
    assert.match(token, /^(?:"[\s\S]*"|[\w$./-]+)$/, tokens.slice(at - 6, at).join(" "));
    return token.startsWith('"') ? token.slice(1, -1).replace(/\\(.)/g, "$1") : token;
  };
  const entriesUntil = (end: string): PropertyDictionary => {
    const entries: Record<string, PropertyValue> = {};
    for (let token = next(); token !== end; token = next()) {
      const key = wordOf(token);
      assert.ok(!Object.hasOwn(entries, key), `${key} is there once`);
      expect("=");
      entries[key] = valueAt(next());
      expect(";");
    }
    return entries;
  };
  const valueAt = (token: string): PropertyValue => {
    if (token === "{") return entriesUntil("}");
    if (token !== "(") return wordOf(token);
    const values: PropertyValue[] = [];
    for (let item = next(); item !== ")"; item = next()) {
      values.push(valueAt(item));
      if (tokens[at] !== ")") expect(",");
    }
    return values;
  };
  const value = bare ? entriesUntil("") : dictionary(valueAt(next()));
  assert.ok(at >= tokens.length, "nothing follows");
  return value;
}

export function dictionary(value: PropertyValue | undefined): PropertyDictionary {
  assert.ok(typeof value === "object" && !Array.isArray(value), "is a dictionary");
  return value as PropertyDictionary;
}

export function words(value: PropertyValue | undefined): readonly string[] {
  assert.ok(Array.isArray(value) && value.every((word) => typeof word === "string"), "is a list of words");
  return value as readonly string[];
}
