/**
 * `npm run mrz-eval -- FOLDER`: how many documents the reader of the printed lines reads on an operator's own pictures. Beside each picture (JPEG) lies a text file of the same name with
 * the lines of its zone, or an empty one where there is none. Nothing is written and nothing leaves the machine; of the lines nothing is printed.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { maxImagePixels } from "@assay/emrtd/lds/image";
import { mrzInformation } from "@assay/emrtd/mrz/mrz-key";
import { keyFieldsOf, parseMrz } from "@assay/emrtd/mrz/parse-mrz";
import { rateOf } from "@assay/face/error-rates";
import { greyOf } from "@assay/mrz-reader/grey";
import { loadReader } from "@assay/mrz-reader/node/load-reader";
import { readPhoto } from "@assay/mrz-reader/photo";
import { decodePicture, PictureError } from "../apps/server/src/face/decode-picture.ts";

type Outcome = "right" | "wrong" | "not_read" | "rightly_none" | "unusable";

/** The key that the text beside a picture says; null where it says that there is no zone. */
function expectedKey(file: string, at: Date): string | null {
  const text = readFileSync(file, "utf8").trim();
  return text === "" ? null : mrzInformation(keyFieldsOf(parseMrz(text.replace(/[ \t]/g, ""), at)));
}

async function outcomeOf(
  reader: ReturnType<typeof loadReader>,
  picture: string,
  expected: string | null,
  at: Date,
): Promise<Outcome> {
  try {
    const decoded = await decodePicture(readFileSync(picture), {
      kinds: ["jpeg"],
      maxPixels: maxImagePixels,
    });
    const read = readPhoto(reader, greyOf(decoded.rgb, decoded.width, decoded.height, 3), at);
    if (read === null || read === "visa") return expected === null ? "rightly_none" : "not_read";
    return mrzInformation(read) === expected ? "right" : "wrong";
  } catch (error) {
    if (error instanceof PictureError) return "unusable";
    throw error;
  }
}

async function main(folder: string | undefined): Promise<void> {
  if (folder === undefined || !existsSync(folder)) {
    console.error(
      "Usage: npm run mrz-eval -- FOLDER, with JPEG pictures in it and the lines of each in a text file of the same name",
    );
    process.exitCode = 2;
    return;
  }
  const reader = loadReader();
  const at = new Date();
  const outcomes = new Map<Outcome, string[]>();
  for (const file of readdirSync(folder)
    .filter((name) => /\.jpe?g$/i.test(name))
    .sort()) {
    const beside = path.join(folder, file.replace(/\.jpe?g$/i, ".txt"));
    if (!existsSync(beside)) continue;
    const outcome = await outcomeOf(reader, path.join(folder, file), expectedKey(beside, at), at);
    outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), file]);
  }
  const count = (outcome: Outcome) => outcomes.get(outcome)?.length ?? 0;
  const documents = count("right") + count("wrong") + count("not_read");
  const share = (part: number, of: number) => {
    const rate = rateOf(part, of);
    if (rate === null) return "not measured";
    return `${part} of ${of} (95 %: ${(rate.low * 100).toFixed(1)} to ${(rate.high * 100).toFixed(1)} %)`;
  };
  console.log(`key right: ${share(count("right"), documents)}`);
  console.log(`wrong key accepted: ${share(count("wrong"), documents + count("rightly_none"))}`);
  console.log(`without a zone, and nothing read: ${count("rightly_none")}; no picture: ${count("unusable")}`);
  for (const outcome of ["wrong", "not_read", "unusable"] as const)
    for (const file of outcomes.get(outcome) ?? []) console.log(`  ${outcome}: ${file}`);
}

await main(process.argv[2]);
