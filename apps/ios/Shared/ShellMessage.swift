import Foundation

/// The page's messages to the shell; chip-transport.js is the other end. Needs only Foundation.
enum ShellMessage: Equatable {
    /// One command for the chip.
    case transceive([UInt8])
    /// Resets the chip's power.
    case reset
    /// The reading is over or cancelled.
    case cancel
    /// What the system's sheet shows meanwhile.
    case progress(ReadStep, percent: Int?)
    /// State that the page needs after the app was ended; empty to delete it.
    case keep(String)

    /// Nil when it is none of the page's messages.
    init?(_ text: String) {
        if text == "reset" {
            self = .reset
        } else if text == "cancel" {
            self = .cancel
        } else if text.hasPrefix("keep ") {
            self = .keep(String(text.dropFirst("keep ".count)))
        } else {
            let parts = text.split(separator: " ", omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] == "transceive", let command = Self.bytes(ofHex: parts[1]) {
                self = .transceive(command)
            } else if parts.count == 3, parts[0] == "progress", let step = ReadStep(rawValue: String(parts[1])) {
                if parts[2] == "-" {
                    self = .progress(step, percent: nil)
                } else if let percent = Int(parts[2]), (0...100).contains(percent) {
                    self = .progress(step, percent: percent)
                } else {
                    return nil
                }
            } else {
                return nil
            }
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func bytes(ofHex hex: Substring) -> [UInt8]? {
        let characters = Array(hex.utf8)
        guard !characters.isEmpty, characters.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 2)
        for index in stride(from: 0, to: characters.count, by: 2) {
            guard let high = digits.firstIndex(of: characters[index]),
                let low = digits.firstIndex(of: characters[index + 1])
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    fileprivate static func hex(of bytes: [UInt8]) -> String {
        var characters: [UInt8] = []
        characters.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            characters.append(digits[Int(byte >> 4)])
            characters.append(digits[Int(byte & 15)])
        }
        return String(decoding: characters, as: UTF8.self)
    }
}

/// The shell's answers. The last word says whether a chip found now has the application already selected.
enum ShellReply: Equatable {
    case answer([UInt8])
    case done
    case lost(Loss)

    func text(applicationSelected: Bool) -> String {
        let selected = applicationSelected ? "1" : "0"
        switch self {
        case .answer(let bytes): return "answer \(ShellMessage.hex(of: bytes)) \(selected)"
        case .done: return "done \(selected)"
        case .lost(let loss): return "lost \(loss.rawValue) \(selected)"
        }
    }
}

/// How far the page is, in its own words (`ReadStep` of the page).
enum ReadStep: String, CaseIterable {
    case connecting, opening, data, portrait, sending, checking, proof
}

/// Why a command got no answer.
enum Loss: String, CaseIterable {
    /// The chip left the field. The sheet is still open and looks for it, so the page may continue.
    case left
    /// The person closed the sheet, or the page gave the reading up.
    case cancelled
    /// The system closes its sheet after 60 seconds.
    case timeout
    /// The system is busy with another reader, or ended this one without a reason.
    case busy
    /// The phone has no reader, or the app may not use it.
    case unavailable
    /// The system does not carry this command.
    case refused

    /// By the code of `NFCReaderError` with which the system ended its sheet.
    init(sheetEndedWith code: Int) {
        switch code {
        case 200: self = .cancelled
        case 201: self = .timeout
        case 1, 2, 6, 7, 8: self = .unavailable
        default: self = .busy
        }
    }

    /// By the code of `NFCReaderError` with which a command failed.
    init(commandFailedWith code: Int) {
        switch code {
        // Not allowed, malformed, or too long for the radio: the chip has not seen it.
        case 2, 3, 4, 5, 105: self = .refused
        default: self = .left
        }
    }
}
