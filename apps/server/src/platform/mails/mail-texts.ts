import type { Role } from "@assay/contract/route";
import type { LetterKind, letterKinds, Removed } from "./letter.ts";

type Closing = NonNullable<(typeof letterKinds)[LetterKind]["closing"]>;
type Because = (typeof letterKinds)[LetterKind]["because"];

/** The texts of all mails in one language. `{places}` are filled in. */
export type MailTexts = {
  hello: string;
  helloName: string;
  /** The text before the address of the button. */
  orOpen: string;
  sentBy: string;
  closing: Record<Closing, string>;
  because: Record<Because, string>;
  removed: Record<Removed["what"], string>;
  roles: Record<Role, string>;
  letters: {
    [K in LetterKind]: LetterText &
      ((typeof letterKinds)[K]["button"] extends true ? { button: string } : object);
  };
};

type LetterText = { subject: string; body: readonly string[]; button?: string };
