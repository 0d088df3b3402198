import { EmrtdError } from "@assay/emrtd/emrtd-error";
import { keyFieldsFromTyped } from "@assay/emrtd/mrz/mrz-key";
import type { AccessKey } from "@assay/emrtd/reader/open-chip";

type TypedAccessKey = {
  can?: string | undefined;
  documentNumber?: string | undefined;
  dateOfBirth?: string | undefined;
  dateOfExpiry?: string | undefined;
};

/** The key typed at the desk: the card access number, or three fields of the machine readable zone. */
export function accessKeyFromTyped({
  can,
  documentNumber,
  dateOfBirth,
  dateOfExpiry,
}: TypedAccessKey): AccessKey {
  const fields = [documentNumber, dateOfBirth, dateOfExpiry];
  if (can !== undefined) {
    if (fields.some((field) => field !== undefined)) {
      throw new EmrtdError("ACCESS_KEY_INVALID", "Give the card access number or the three fields, not both");
    }
    if (!/^[0-9]{6}$/.test(can))
      throw new EmrtdError("ACCESS_KEY_INVALID", "The card access number has six digits");
    return { can };
  }
  if (documentNumber === undefined || dateOfBirth === undefined || dateOfExpiry === undefined) {
    throw new EmrtdError(
      "ACCESS_KEY_INVALID",
      "Give document number, date of birth and date of expiry, or the card access number",
    );
  }
  return { mrz: keyFieldsFromTyped({ documentNumber, dateOfBirth, dateOfExpiry }) };
}
