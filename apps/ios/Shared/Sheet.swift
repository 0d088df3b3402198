import Foundation

/// Decisions about the system's sheet. Needs only Foundation.
enum Sheet {
    /// How long a person may search for the chip's position before the next attempt polls in the other way.
    /// Shorter: a person who closes the sheet to read on finds nothing the second time. Longer: a person
    /// whose card needs the other way gives up.
    static let patienceSeconds = 15.0

    /// What the system looks for before it reports a chip.
    enum Search: Equatable {
        /// The travel document application, which the system selects. PACE-only cards refuse that and are not
        /// found.
        case application
        /// PACE. Older documents do not have it and are not found. The system selects nothing.
        case pace
        /// Either; systems before 26.4 cannot do both at once.
        case either

        /// The page gets this value before there is a chip.
        var selectsApplication: Bool { self != .pace }

        /// For the next sheet. A search that found a chip is kept; one that found none is changed only after
        /// some patience.
        func next(foundChip: Bool, afterSeconds seconds: Double) -> Search {
            if self == .either || foundChip || seconds < Sheet.patienceSeconds { return self }
            return self == .application ? .pace : .application
        }
    }

    /// The text while a chip is being read.
    static func progress(_ step: ReadStep, percent: Int?) -> (key: TextKey, bar: String) {
        (key: key(of: step), bar: bar(percent: percent ?? (step == .connecting || step == .opening ? 0 : 100)))
    }

    /// The system shows success or failure when its sheet closes. A chip that was not opened must not look
    /// opened.
    static func endsWell(lastStep: ReadStep?, lost: Bool) -> Bool {
        guard let lastStep, !lost else { return false }
        return lastStep != .connecting && lastStep != .opening
    }

    private static func key(of step: ReadStep) -> TextKey {
        switch step {
        case .connecting: return .sheetHold
        case .opening: return .sheetOpening
        case .data: return .sheetData
        case .portrait: return .sheetPortrait
        case .sending, .checking, .proof: return .sheetProof
        }
    }

    private static func bar(percent: Int) -> String {
        let full = percent / 10
        return String(repeating: "●", count: full) + String(repeating: "○", count: 10 - full)
    }
}
