import Foundation

/// The shell's own words, in the languages of Resources. Everything else is said by the page.
enum TextKey: String, CaseIterable {
    case entryText = "entry_text"
    case entryScan = "entry_scan"
    case entryHint = "entry_hint"
    case entryOpen = "entry_open"
    case entryWrong = "entry_wrong"
    case scanText = "scan_text"
    case scanNoCamera = "scan_no_camera"
    case scanBack = "scan_back"
    case askTitle = "ask_title"
    case askPartner = "ask_partner"
    case askText = "ask_text"
    case askAgree = "ask_agree"
    case askDecline = "ask_decline"
    case askRefused = "ask_refused"
    case entryOffline = "entry_offline"
    case sheetHold = "sheet_hold"
    case sheetOpening = "sheet_opening"
    case sheetData = "sheet_data"
    case sheetPortrait = "sheet_portrait"
    case sheetProof = "sheet_proof"
    case sheetLost = "sheet_lost"
    case sheetOneDocument = "sheet_one_document"
    case sheetDone = "sheet_done"
    case sheetProblem = "sheet_problem"

    var text: String { NSLocalizedString(rawValue, comment: "") }
}
