import { setTimeout as wait } from "node:timers/promises";
import type { Engine } from "./engine.ts";

const patienceMs = 30_000;

/** A person at a page of an engine: waits until something appears, then presses or types. */
export class Person {
  readonly engine: Engine;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  async until(what: string, condition: string, withinMs = patienceMs): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (!(await this.#holds(condition))) {
      if (Date.now() > deadline) {
        const seen = await this.engine.evaluate<string>("document.body.innerText");
        throw new Error(`never came: ${what}\n${seen.slice(0, 1500)}`);
      }
      await wait(100);
    }
  }

  heading(text: string, withinMs?: number): Promise<void> {
    const titles = `[...document.querySelectorAll("h1")]`;
    return this.until(
      `the heading "${text}"`,
      `${titles}.some((title) => title.textContent.includes(${JSON.stringify(text)}))`,
      withinMs,
    );
  }

  /** A button, a link or the label of a box, by its whole text. */
  async press(text: string): Promise<void> {
    const found = `[...document.querySelectorAll("button, a, label, summary")].find((each) =>
      each.textContent.trim() === ${JSON.stringify(text)} && each.offsetParent !== null)`;
    await this.until(`"${text}" to press`, `${found} !== undefined`);
    await this.engine.evaluate(`void ${found}.click()`);
  }

  async choose(selector: string): Promise<void> {
    await this.until(selector, `document.querySelector(${JSON.stringify(selector)}) !== null`);
    await this.engine.evaluate(`void document.querySelector(${JSON.stringify(selector)}).click()`);
  }

  /** Into the field with this label. */
  async typeInto(label: string, value: string): Promise<void> {
    const found = `[...document.querySelectorAll("label")].find((each) => each.textContent.trim() === ${JSON.stringify(label)})`;
    await this.until(`the field "${label}"`, `${found} !== undefined`);
    await this.type(`#${await this.engine.evaluate<string>(`CSS.escape(${found}.htmlFor)`)}`, value);
  }

  /** Like typing: React notices a value only if it is set with the native setter. */
  async type(selector: string, value: string): Promise<void> {
    await this.until(selector, `document.querySelector(${JSON.stringify(selector)}) !== null`);
    await this.engine.evaluate(`(() => {
      const field = document.querySelector(${JSON.stringify(selector)});
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, ${JSON.stringify(value)});
      field.dispatchEvent(new Event("input", { bubbles: true }));
    })()`);
  }

  /** Between two pages there is nothing to ask. */
  async #holds(condition: string): Promise<boolean> {
    return this.engine.evaluate<boolean>(condition).catch(() => false);
  }
}
