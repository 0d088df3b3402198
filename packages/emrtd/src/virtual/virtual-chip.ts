import { type DecodedCommand, decodeCommand, maxShortExpectedBytes } from "../apdu/command.ts";
import { encodeResponse, type ResponseApdu, statusWords } from "../apdu/response.ts";
import type { ChipTransport } from "../apdu/transport.ts";
import { bacKeys, bacSession, openBacMessage, sealBacMessage } from "../bac/bac.ts";
import { oidFromBytes } from "../ber/oid.ts";
import { readTlv } from "../ber/read.ts";
import { tlv } from "../ber/write.ts";
import { bytesToBigInt, concat, equal, readUint16 } from "../bytes.ts";
import { type CipherSuite, cipherSuites, deriveSessionKeys } from "../crypto/cipher-suite.ts";
import { type RandomSource, secureRandom } from "../crypto/random.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { buildCardAccess } from "../lds/card-files.ts";
import { type ChipFileName, chipFiles, ldsApplicationId } from "../lds/chip-files.ts";
import { type MrzKeyFields, mrzInformation } from "../mrz/mrz-key.ts";
import { type PacePassword, passwordReference } from "../pace/pace-crypto.ts";
import { cipherArcs } from "../pace/pace-protocol.ts";
import { SecureMessaging } from "../secure-messaging/secure-messaging.ts";
import {
  authenticationObject,
  ChipRefusal,
  environmentObjects,
  PaceChip,
  smallNumber,
  type VirtualPace,
} from "./pace-chip.ts";
import { type ChipPrivateKey, readPkcs8 } from "./private-key.ts";
import { type ChallengeSigningOptions, signChallenge } from "./sign-challenge.ts";

/** Misbehaviour of real chips and readers, as reported by users of other readers. */
export type VirtualChipQuirks = {
  /** Answers extended-length commands with 6700. */
  readonly refuseExtendedLength?: boolean;
  /** The most that one READ BINARY may ask for. */
  readonly maxReadBytes?: number;
  /** Answer to a longer READ BINARY: a status word, fewer bytes, or the end of the session. */
  readonly onLongRead?: "wrong-length" | "fewer-bytes" | "lose-session";
  /** Refuses a read past the end of the file instead of returning the rest. */
  readonly exactLastRead?: boolean;
  /** Forgets the session once, after this many protected commands. */
  readonly loseSessionAfterCommands?: number;
  /** Answers SELECT of the master file with 6A82. */
  readonly refuseSelectMasterFile?: boolean;
  /** Refuses READ BINARY in extended length, although it understands other commands in it. */
  readonly refuseExtendedReads?: boolean;
  /** Refuses without protection inside a session, which ends the session. */
  readonly plainRefusals?: boolean;
  /** Once a session was lost, answers everything with this status word until it is reset. */
  readonly closedUntilReset?: number;
  /** Sends answers in pieces of this many bytes (61xx), whatever length was requested. */
  readonly pieceBytes?: number;
  /** Answers a READ BINARY of more than is left, or than it gives at once, with 6Cxx. */
  readonly tellsRightLength?: boolean;
  /** Does not find back to the application once another directory was selected. */
  readonly leavesApplicationForGood?: boolean;
  /** Does not understand MSE:Set KAT, the older way into chip authentication. */
  readonly refuseKeyAgreementTemplate?: boolean;
};

export type VirtualChipOptions = {
  /** Whole files, outer tag included. */
  readonly files: Readonly<Partial<Record<ChipFileName, Uint8Array>>>;
  /** The three fields, or the whole information string with check digits. */
  readonly mrzKey?: MrzKeyFields | string;
  readonly can?: string;
  /** Refuses BAC, like PACE-only documents. */
  readonly withoutBac?: boolean;
  /** The variants on offer. EF.CardAccess is made from them unless it is among the files. */
  readonly pace?: readonly VirtualPace[];
  readonly chipAuthentication?: readonly VirtualChipAuthenticationKey[];
  readonly activeAuthentication?: VirtualActiveAuthenticationKey | null;
  /** Like phones that select the application before the first command. */
  readonly applicationSelected?: boolean;
  /** A copy: the same files, none of the private keys. */
  readonly clone?: boolean;
  readonly random?: RandomSource;
  readonly quirks?: VirtualChipQuirks;
};

type VirtualChipAuthenticationKey = {
  /** PKCS #8. */
  readonly privateKey: Uint8Array;
  readonly keyId?: number;
};

type VirtualActiveAuthenticationKey = ChallengeSigningOptions & {
  /** PKCS #8. */
  readonly privateKey: Uint8Array;
};

export type VirtualChip = ChipTransport & {
  /** As if the document had left the field and returned. Complete when the call returns. */
  reset(): Promise<void>;
};

const okAnswer: ResponseApdu = { data: new Uint8Array(0), statusWord: statusWords.ok };
const securedClassBits = 0x0c;
/** Finger and iris prints open to terminals with a certificate only. */
const alwaysDenied: readonly ChipFileName[] = ["DG3", "DG4"];

export function createVirtualChip(options: VirtualChipOptions): VirtualChip {
  const chip = new SoftwareChip(options);
  return {
    maxCommandBytes: 65_544,
    maxResponseBytes: 65_538,
    extendedLength: true,
    transceive: async (command) => chip.answer(command),
    reset: async () => chip.reset(),
    applicationSelected: options.applicationSelected === true,
  };
}

type AgreementKey = {
  readonly key: Extract<ChipPrivateKey, { kind: "EC" | "DH" }>;
  readonly keyId: number | null;
};

class SoftwareChip {
  readonly #options: VirtualChipOptions;
  readonly #quirks: VirtualChipQuirks;
  readonly #random: RandomSource;
  readonly #files: Readonly<Partial<Record<ChipFileName, Uint8Array>>>;
  readonly #mrzInformation: string | null;
  readonly #agreementKeys: readonly AgreementKey[];
  readonly #signingKey: ChipPrivateKey | null;
  readonly #sessionLossesLeft: { count: number };
  #messaging: SecureMessaging | null = null;
  #nextMessaging: SecureMessaging | null = null;
  #accessGranted = false;
  #directory: "master" | "application";
  #closed = false;
  #leftApplication = false;
  #selected: ChipFileName | null = null;
  #bacChallenge: Uint8Array | null = null;
  #pace: PaceChip | null = null;
  #chipAuthentication: { readonly suite: CipherSuite; readonly key: AgreementKey } | null = null;
  #waiting: Uint8Array = new Uint8Array(0);
  #waitingStatus: number = statusWords.ok;
  #protectedCommands = 0;

  constructor(options: VirtualChipOptions) {
    this.#options = options;
    this.#directory = options.applicationSelected === true ? "application" : "master";
    this.#quirks = options.quirks ?? {};
    this.#random = options.random ?? secureRandom;
    this.#files =
      options.pace === undefined || options.files.CardAccess !== undefined
        ? options.files
        : { ...options.files, CardAccess: cardAccessFile(options.pace) };
    this.#mrzInformation =
      typeof options.mrzKey === "object" ? mrzInformation(options.mrzKey) : (options.mrzKey ?? null);
    const clone = options.clone === true;
    this.#agreementKeys = clone ? [] : (options.chipAuthentication ?? []).map(agreementKey);
    this.#signingKey =
      clone || options.activeAuthentication == null
        ? null
        : readPkcs8(options.activeAuthentication.privateKey);
    this.#sessionLossesLeft = { count: this.#quirks.loseSessionAfterCommands === undefined ? 0 : 1 };
  }

  reset(): void {
    this.#endSession();
    this.#closed = false;
    this.#leftApplication = false;
    this.#directory = this.#options.applicationSelected === true ? "application" : "master";
    this.#selected = null;
    this.#waiting = new Uint8Array(0);
  }

  answer(bytes: Uint8Array): Uint8Array {
    let command: DecodedCommand;
    try {
      command = decodeCommand(bytes);
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
      return status(statusWords.wrongLength);
    }
    const { refuseExtendedLength, refuseExtendedReads, closedUntilReset } = this.#quirks;
    if (this.#closed && closedUntilReset !== undefined) return status(closedUntilReset);
    const isRead = command.ins === 0xb0 || command.ins === 0xb1;
    if (command.extended && (refuseExtendedLength === true || (refuseExtendedReads === true && isRead))) {
      if (this.#quirks.plainRefusals === true) this.#loseSession();
      return status(statusWords.wrongLength);
    }
    if (command.ins === 0xc0) return this.#sendWaiting(command.expectedBytes);
    const isProtected = (command.cla & securedClassBits) === securedClassBits;
    const response = isProtected ? this.#answerProtected(command) : this.#answerPlain(command);
    const { pieceBytes } = this.#quirks;
    const atOnce = pieceBytes ?? (command.extended ? response.data.length : maxShortExpectedBytes);
    if (response.data.length > atOnce) {
      this.#waiting = response.data;
      this.#waitingStatus = response.statusWord;
      return this.#sendWaiting(atOnce);
    }
    return encodeResponse(response);
  }

  /** 61xx and GET RESPONSE, for answers that do not fit into a short APDU. */
  #sendWaiting(expectedBytes: number): Uint8Array {
    const most = this.#quirks.pieceBytes ?? maxShortExpectedBytes;
    const part = this.#waiting.subarray(0, Math.min(expectedBytes, most));
    this.#waiting = this.#waiting.subarray(part.length);
    const left = this.#waiting.length;
    const statusWord = left === 0 ? this.#waitingStatus : 0x6100 | (left > 255 ? 0 : left);
    return encodeResponse({ data: part, statusWord });
  }

  #answerPlain(command: DecodedCommand): ResponseApdu {
    // An unprotected command ends the session, so that none can be injected.
    if (this.#messaging !== null) this.#loseSession();
    return this.#execute(command);
  }

  #answerProtected(command: DecodedCommand): ResponseApdu {
    const messaging = this.#messaging;
    if (messaging === null) return { data: okAnswer.data, statusWord: statusWords.messagingObjectsIncorrect };
    this.#protectedCommands++;
    const lossAt = this.#quirks.loseSessionAfterCommands;
    if (lossAt !== undefined && this.#protectedCommands > lossAt && this.#sessionLossesLeft.count > 0) {
      this.#sessionLossesLeft.count--;
      this.#loseSession();
      return { data: okAnswer.data, statusWord: statusWords.messagingObjectsIncorrect };
    }
    let plain: DecodedCommand;
    try {
      plain = messaging.unprotectCommand(command);
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
      this.#loseSession();
      return { data: okAnswer.data, statusWord: statusWords.messagingObjectsIncorrect };
    }
    const response = this.#execute(plain);
    const refused = response.statusWord !== statusWords.ok && response.statusWord !== statusWords.endOfFile;
    if (refused && this.#quirks.plainRefusals === true) {
      this.#loseSession();
      return response;
    }
    if (this.#messaging === null)
      return { data: okAnswer.data, statusWord: statusWords.messagingObjectsIncorrect };
    const answer = messaging.protectResponse(command.ins, response);
    if (this.#nextMessaging !== null) {
      this.#messaging = this.#nextMessaging;
      this.#nextMessaging = null;
    }
    return answer;
  }

  #execute(command: DecodedCommand): ResponseApdu {
    try {
      return this.#dispatch(command);
    } catch (error) {
      if (error instanceof ChipRefusal) return { data: okAnswer.data, statusWord: error.statusWord };
      if (isEmrtdError(error)) return { data: okAnswer.data, statusWord: statusWords.wrongData };
      throw error;
    }
  }

  #dispatch(command: DecodedCommand): ResponseApdu {
    switch (command.ins) {
      case 0xa4:
        return this.#select(command);
      case 0xb0:
        return this.#readBinary(command);
      case 0xb1:
        return this.#readBinaryOdd(command);
      case 0x84:
        return this.#getChallenge(command);
      case 0x82:
        return this.#externalAuthenticate(command);
      case 0x22:
        return this.#manageSecurityEnvironment(command);
      case 0x86:
        return this.#generalAuthenticate(command);
      case 0x88:
        return this.#internalAuthenticate(command);
      default:
        throw new ChipRefusal(statusWords.instructionNotSupported);
    }
  }

  /** After an error; a new session that the terminal opens does not count. */
  #loseSession(): void {
    if (this.#messaging !== null && this.#quirks.closedUntilReset !== undefined) this.#closed = true;
    this.#endSession();
  }

  #endSession(): void {
    this.#messaging = null;
    this.#nextMessaging = null;
    this.#accessGranted = false;
    this.#bacChallenge = null;
    this.#pace = null;
    this.#chipAuthentication = null;
  }

  #select({ p1, data }: DecodedCommand): ResponseApdu {
    if (p1 === 0x04) {
      const lost = this.#leftApplication && this.#quirks.leavesApplicationForGood === true;
      if (lost || !equal(data, ldsApplicationId)) throw new ChipRefusal(statusWords.fileNotFound);
      this.#directory = "application";
      this.#selected = null;
      return okAnswer;
    }
    if (p1 === 0x00 && (data.length === 0 || (data.length === 2 && readUint16(data, 0) === 0x3f00))) {
      if (this.#quirks.refuseSelectMasterFile === true) throw new ChipRefusal(statusWords.fileNotFound);
      this.#leftApplication = true;
      this.#directory = "master";
      this.#selected = null;
      return okAnswer;
    }
    if ((p1 !== 0x00 && p1 !== 0x02) || data.length !== 2) throw new ChipRefusal(statusWords.wrongParameters);
    const fileId = readUint16(data, 0);
    const name = this.#findFile((address) => address.fileId === fileId);
    this.#requireAccess(name);
    this.#selected = name;
    return okAnswer;
  }

  #findFile(matches: (address: { fileId: number; shortId: number }) => boolean): ChipFileName {
    for (const [name, address] of Object.entries(chipFiles) as [
      ChipFileName,
      (typeof chipFiles)[ChipFileName],
    ][]) {
      if (address.directory === this.#directory && matches(address) && this.#files[name] !== undefined)
        return name;
    }
    throw new ChipRefusal(statusWords.fileNotFound);
  }

  #requireAccess(name: ChipFileName): void {
    const free =
      name === "CardAccess" ||
      name === "AtrInfo" ||
      (this.#mrzInformation === null && this.#options.can === undefined);
    if (!(free || this.#accessGranted) || alwaysDenied.includes(name)) {
      throw new ChipRefusal(statusWords.securityStatusNotSatisfied);
    }
  }

  #readBinary({ p1, p2, expectedBytes }: DecodedCommand): ResponseApdu {
    if ((p1 & 0x80) !== 0) {
      this.#selected = this.#findFile((address) => address.shortId === (p1 & 0x1f));
      return this.#read(p2, expectedBytes);
    }
    return this.#read((p1 << 8) | p2, expectedBytes);
  }

  #readBinaryOdd({ data, expectedBytes }: DecodedCommand): ResponseApdu {
    const offset = readTlv(data, 0, { maxDepth: 1 }).expect(0x54, "offset").value;
    if (offset.length === 0 || offset.length > 4) throw new ChipRefusal(statusWords.wrongData);
    const overhead = expectedBytes > 0x100 ? 4 : expectedBytes > 0x82 ? 3 : 2;
    const { data: piece, statusWord } = this.#read(Number(bytesToBigInt(offset)), expectedBytes - overhead);
    return { data: tlv(0x53, piece), statusWord };
  }

  #read(offset: number, expectedBytes: number): ResponseApdu {
    const name = this.#selected;
    const file = name === null ? undefined : this.#files[name];
    if (name === null || file === undefined) throw new ChipRefusal(statusWords.conditionsNotSatisfied);
    this.#requireAccess(name);
    let wanted = expectedBytes;
    const limit = this.#quirks.maxReadBytes;
    if (limit !== undefined && wanted > limit) {
      if (this.#quirks.tellsRightLength === true) throw new ChipRefusal(0x6c00 | (limit & 0xff));
      if (this.#quirks.onLongRead === "lose-session") this.#loseSession();
      if (this.#quirks.onLongRead !== "fewer-bytes") throw new ChipRefusal(statusWords.wrongLength);
      wanted = limit;
    }
    if (offset >= file.length) throw new ChipRefusal(statusWords.offsetOutside);
    const all = expectedBytes === 256 || expectedBytes === 65_536;
    if (this.#quirks.exactLastRead === true && offset + wanted > file.length)
      throw new ChipRefusal(statusWords.wrongLength);
    const piece = file.subarray(offset, offset + wanted);
    return {
      data: piece,
      statusWord: piece.length < wanted && !all ? statusWords.endOfFile : statusWords.ok,
    };
  }

  #getChallenge({ expectedBytes }: DecodedCommand): ResponseApdu {
    if (this.#mrzInformation === null || this.#options.withoutBac === true) {
      throw new ChipRefusal(statusWords.instructionNotSupported);
    }
    if (expectedBytes !== 8 && expectedBytes !== 256) throw new ChipRefusal(statusWords.wrongLength);
    this.#bacChallenge = this.#random(8);
    return { data: this.#bacChallenge, statusWord: statusWords.ok };
  }

  #externalAuthenticate({ data }: DecodedCommand): ResponseApdu {
    const challenge = this.#bacChallenge;
    this.#bacChallenge = null;
    if (challenge === null || this.#mrzInformation === null || this.#directory !== "application") {
      throw new ChipRefusal(statusWords.conditionsNotSatisfied);
    }
    const keys = bacKeys(this.#mrzInformation);
    const opened = openBacMessage(keys, data);
    if (opened === null || !equal(opened.subarray(8, 16), challenge)) {
      throw new ChipRefusal(statusWords.authenticationFailed);
    }
    const terminalNonce = opened.slice(0, 8);
    const share = this.#random(16);
    this.#messaging = bacSession(challenge, terminalNonce, share, opened.subarray(16));
    this.#accessGranted = true;
    return {
      data: sealBacMessage(keys, concat(challenge, terminalNonce, share)),
      statusWord: statusWords.ok,
    };
  }

  #manageSecurityEnvironment({ p1, p2, data }: DecodedCommand): ResponseApdu {
    if (p1 === 0xc1 && p2 === 0xa4) return this.#setPace(environmentObjects(data));
    if (p1 === 0x41 && p2 === 0xa4) return this.#setChipAuthentication(environmentObjects(data));
    if (p1 === 0x41 && p2 === 0xa6 && this.#quirks.refuseKeyAgreementTemplate !== true) {
      const objects = environmentObjects(data);
      return this.#agree(this.#pickAgreementKey(objects.get(0x84)), cipherSuites["3DES"], objects.get(0x91));
    }
    throw new ChipRefusal(statusWords.wrongParameters);
  }

  #setPace(objects: Map<number, Uint8Array>): ResponseApdu {
    const wantedOid = objects.get(0x80);
    if (wantedOid === undefined) throw new ChipRefusal(statusWords.wrongData);
    const wanted = oidFromBytes(wantedOid);
    const parameterId = smallNumber(objects.get(0x84));
    const offer = (this.#options.pace ?? []).find(
      (candidate) =>
        candidate.oid === wanted && (parameterId === null || candidate.parameterId === parameterId),
    );
    if (offer === undefined) throw new ChipRefusal(statusWords.referenceNotFound);
    const password = this.#password(smallNumber(objects.get(0x83)));
    this.#endSession();
    this.#pace = new PaceChip(
      offer,
      password,
      this.#random,
      this.#agreementKeys.map(({ key }) => key),
    );
    return okAnswer;
  }

  #password(reference: number | null): PacePassword {
    if (reference === passwordReference.mrz && this.#mrzInformation !== null) {
      return { kind: "mrz", mrzInformation: this.#mrzInformation };
    }
    if (reference === passwordReference.can && this.#options.can !== undefined) {
      return { kind: "can", can: this.#options.can };
    }
    throw new ChipRefusal(statusWords.referenceNotFound);
  }

  #setChipAuthentication(objects: Map<number, Uint8Array>): ResponseApdu {
    const wantedOid = objects.get(0x80);
    if (!this.#accessGranted || wantedOid === undefined)
      throw new ChipRefusal(statusWords.conditionsNotSatisfied);
    const cipher = cipherArcs[oidFromBytes(wantedOid).split(".").at(-1) ?? ""];
    if (cipher === undefined) throw new ChipRefusal(statusWords.wrongData);
    this.#chipAuthentication = {
      suite: cipherSuites[cipher],
      key: this.#pickAgreementKey(objects.get(0x84)),
    };
    return okAnswer;
  }

  #pickAgreementKey(reference: Uint8Array | undefined): AgreementKey {
    if (!this.#accessGranted) throw new ChipRefusal(statusWords.conditionsNotSatisfied);
    const keyId = smallNumber(reference);
    const key = this.#agreementKeys.find((candidate) => keyId === null || candidate.keyId === keyId);
    if (key === undefined) throw new ChipRefusal(statusWords.referenceNotFound);
    return key;
  }

  #generalAuthenticate({ cla, data }: DecodedCommand): ResponseApdu {
    const pending = this.#chipAuthentication;
    if (pending !== null) {
      this.#chipAuthentication = null;
      this.#agree(pending.key, pending.suite, authenticationObject(data).value);
      return { data: tlv(0x7c), statusWord: statusWords.ok };
    }
    const pace = this.#pace;
    if (pace === null) throw new ChipRefusal(statusWords.conditionsNotSatisfied);
    try {
      const step = pace.step(data, (cla & 0x10) !== 0);
      if (step.messaging !== undefined) {
        this.#endSession();
        this.#messaging = step.messaging;
        this.#accessGranted = true;
      }
      return { data: step.data, statusWord: statusWords.ok };
    } catch (error) {
      this.#pace = null;
      throw error;
    }
  }

  /** From the next command on, only the holder of the terminal's ephemeral key can use this chip. */
  #agree({ key }: AgreementKey, suite: CipherSuite, terminalKey: Uint8Array | undefined): ResponseApdu {
    if (terminalKey === undefined) throw new ChipRefusal(statusWords.wrongData);
    const secret = key.domain.sharedSecret(key.scalar, terminalKey);
    this.#nextMessaging = new SecureMessaging(suite, deriveSessionKeys(suite, secret));
    return okAnswer;
  }

  #internalAuthenticate({ data }: DecodedCommand): ResponseApdu {
    if (!this.#accessGranted) throw new ChipRefusal(statusWords.securityStatusNotSatisfied);
    const key = this.#signingKey;
    if (key === null) throw new ChipRefusal(statusWords.referenceNotFound);
    if (data.length !== 8) throw new ChipRefusal(statusWords.wrongLength);
    const signature = signChallenge(key, data, this.#random, this.#options.activeAuthentication ?? {});
    return { data: signature, statusWord: statusWords.ok };
  }
}

function status(statusWord: number): Uint8Array {
  return encodeResponse({ data: okAnswer.data, statusWord });
}

function agreementKey(given: VirtualChipAuthenticationKey): AgreementKey {
  const key = readPkcs8(given.privateKey);
  if (key.kind === "RSA") throw new EmrtdError("BUILD_INVALID", "Chip authentication needs an EC or DH key");
  return { key, keyId: given.keyId ?? null };
}

/** EF.CardAccess that offers these variants. */
export function cardAccessFile(offers: readonly VirtualPace[]): Uint8Array {
  return buildCardAccess(
    offers.flatMap(({ oid, parameterId, domainParameter }) => {
      const id = BigInt(parameterId);
      const info = { kind: "pace", protocol: oid, parameterId: id } as const;
      if (domainParameter === undefined) return [info];
      const family = oid.slice(0, oid.lastIndexOf("."));
      return [
        info,
        { kind: "paceDomainParameters", protocol: family, domainParameter, parameterId: id } as const,
      ];
    }),
  );
}
