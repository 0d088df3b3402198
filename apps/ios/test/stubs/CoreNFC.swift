// The part of Core NFC that the shell uses, from Apple's documentation. It is for the compiler only: without
// a Mac there is no other way to check names and types.
import Foundation

public protocol NFCISO7816Tag: AnyObject {
    var initialSelectedAID: String { get }
    func sendCommand(apdu: NFCISO7816APDU, completionHandler: @escaping (Data, UInt8, UInt8, Error?) -> Void)
}

public enum NFCTag {
    case feliCa(AnyObject)
    case iso7816(NFCISO7816Tag)
    case iso15693(AnyObject)
    case miFare(AnyObject)
}

public class NFCISO7816APDU: NSObject {
    public init?(data: Data) {}
}

public protocol NFCTagReaderSessionDelegate: AnyObject {
    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession)
    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error)
    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag])
}

public class NFCReaderSession: NSObject {
    public class var readingAvailable: Bool { false }
    public var alertMessage = ""
    public func begin() {}
    public func invalidate() {}
    public func invalidate(errorMessage: String) {}
}

public class NFCTagReaderSession: NFCReaderSession {
    public struct PollingOption: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let iso14443 = PollingOption(rawValue: 1)
        public static let pace = PollingOption(rawValue: 8)
    }
    public init?(pollingOption: PollingOption, delegate: NFCTagReaderSessionDelegate, queue: DispatchQueue? = nil) {}
    public func restartPolling() {}
    public func connect(to tag: NFCTag, completionHandler: @escaping (Error?) -> Void) {}
}
