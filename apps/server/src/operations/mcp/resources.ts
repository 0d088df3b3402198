import { type Listed, listDocuments, readDocument } from "../../platform/pages/documents.ts";
import { partnerGuides } from "../../platform/pages/site.ts";

type Resource = { uri: string; name: string; title: string; description: string; mimeType: string };

const mimeType = "text/markdown";
/** Read once: the files do not change while the process runs. */
let guides: Listed[] | null = null;

/** The guides for partners. Each also has an address. */
export function listResources(publicUrl: string): Resource[] {
  guides ??= listDocuments().filter(({ name }) => partnerGuides.includes(name));
  return guides.map(({ name, title, summary }) => ({
    uri: uriOf(name, publicUrl),
    name,
    title,
    description: summary,
    mimeType,
  }));
}

/** Null if there is no such guide. */
export function readResource(
  uri: unknown,
  publicUrl: string,
): { uri: string; mimeType: string; text: string } | null {
  const name = partnerGuides.find((guide) => uriOf(guide, publicUrl) === uri);
  const found = name === undefined ? null : readDocument(name);
  return found && { uri: uriOf(found.name, publicUrl), mimeType, text: found.markdown };
}

function uriOf(name: string, publicUrl: string): string {
  return `${publicUrl}/docs/${name}.md`;
}
