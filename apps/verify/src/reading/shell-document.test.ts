import assert from "node:assert/strict";
import test from "node:test";
import { accessKeyOf, type TypedAccess } from "./shell-document.ts";

const typed: TypedAccess = {
  by: "mrz",
  documentNumber: "L898902C3",
  dateOfBirth: "1974-08-12",
  dateOfExpiry: "2012-04-15",
  can: "",
};

test("what is typed becomes the fields of the zone, whatever spaces and letters it is typed with", () => {
  assert.deepEqual(accessKeyOf({ ...typed, documentNumber: " l898 902-c3 " }), {
    key: { mrz: { documentNumber: "L898902C3", dateOfBirth: "740812", dateOfExpiry: "120415" } },
  });
});

test("every field that cannot be right is named at once", () => {
  assert.deepEqual(
    accessKeyOf({ ...typed, documentNumber: "Ä1", dateOfBirth: "", dateOfExpiry: "2012-13-01" }),
    {
      mistakes: { documentNumber: "shape", dateOfBirth: "shape", dateOfExpiry: "shape" },
    },
  );
});

test("a number copied with its filler and check digit is taken without them, and refused when the digit is wrong", () => {
  const right = accessKeyOf({ ...typed, documentNumber: "D2314589<7" });
  assert.ok("key" in right && "mrz" in right.key);
  assert.equal(right.key.mrz.documentNumber, "D2314589");
  assert.deepEqual(accessKeyOf({ ...typed, documentNumber: "D2314589<6" }), {
    mistakes: { documentNumber: "check_digit" },
  });
});

test("a card access number has six digits", () => {
  assert.deepEqual(accessKeyOf({ ...typed, by: "can", can: "123 456" }), { key: { can: "123456" } });
  assert.deepEqual(accessKeyOf({ ...typed, by: "can", can: "12345" }), { mistakes: { can: "shape" } });
});
