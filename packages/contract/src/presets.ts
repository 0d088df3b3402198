/** A requested field in a preset. */
type Wish = { required: boolean; reason: string };

export type Preset = {
  id: "age" | "name" | "identity" | "own";
  /** In English, as the command line names it. */
  label: string;
  /** By form field; `age_over` is the age chosen there. */
  wishes: Readonly<Record<string, Wish>>;
};

const needed = (reason: string): Wish => ({ required: true, reason });
const welcome = (reason: string): Wish => ({ required: false, reason });

const who = "To know who opens the account.";
const document = "We must keep a record of the document.";

/**
 * Common share requests. The person reads the reasons, and partners are expected to change them.
 * `preset-reasons.json` of the dashboard has them in the other languages.
 */
export const presets: readonly Preset[] = [
  {
    id: "age",
    label: "Age check",
    wishes: { age_over: needed("We may only serve adults.") },
  },
  {
    id: "name",
    label: "Name and date of birth",
    wishes: {
      given_names: needed(who),
      family_name: needed(who),
      date_of_birth: needed("To tell people with the same name apart."),
    },
  },
  {
    id: "identity",
    label: "Full identity",
    wishes: {
      given_names: needed(who),
      family_name: needed(who),
      date_of_birth: needed("The law requires it."),
      nationality_code: needed("The law requires it."),
      document_type_code: needed(document),
      document_number: needed(document),
      issuing_country_code: needed(document),
      document_expiry_date: needed(document),
      sex_marker: welcome("To address you correctly in letters."),
    },
  },
  {
    id: "own",
    label: "Custom",
    wishes: {},
  },
];
