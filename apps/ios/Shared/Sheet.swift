import Foundation

/// What is decided about the system's sheet. Needs nothing but Foundation.
enum Sheet {
    /// How long a person is given to find the place of the chip before the other way of looking is tried the next time. Half: whoever
    /// closes the sheet to read on finds nothing the second time. Twice: whoever has a card that only the other way finds gives up.
    static let patienceSeconds = 15.0

    /// What a chip has to show before the system tells of it.
    enum Search: Equatable {
        /// The travel document application, which the system selects. Cards that open only with PACE refuse that and are not found.
        case application
        /// PACE. Older documents do not have it and are not found. The system selects nothing.
        case pace
        /// Either; systems before 26.4 cannot do both at once.
        case either

        /// What the page is told before there is a chip.
        var selectsApplication: Bool { self != .pace }

        /// For the next sheet. A way that has found a chip is kept, and one that found none is given up only after some patience.
        func next(foundChip: Bool, afterSeconds seconds: Double) -> Search {
            if self == .either || foundChip || seconds < Sheet.patienceSeconds { return self }
            return self == .application ? .pace : .application
        }
    }

    /// The text while a chip is being read.
    static func progress(_ step: ReadStep, percent: Int?) -> (key: TextKey, bar: String) {
        (key: key(of: step), bar: bar(percent: percent ?? (step == .connecting || step == .opening ? 0 : 100)))
    }

    /// The system shows a mark of success or of failure when its sheet closes. Nobody may take a chip that was not opened for one that was.
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
