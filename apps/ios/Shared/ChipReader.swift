import CoreNFC
import Foundation

/// Passes one command at a time to the chip in the phone's field, and shows the system's sheet meanwhile. It
/// does not interpret or log what it carries. Everything happens on the main queue.
final class ChipReader: NSObject, NFCTagReaderSessionDelegate {
    typealias Reply = (ShellReply) -> Void

    /// A sheet opened right after another closed is sometimes refused. Fewer: people see that refusal. More:
    /// they wait.
    private static let mostRefusals = 3
    private static let pauseAfterRefusalSeconds = 1.0

    private enum Wish {
        case answer([UInt8])
        case returnedChip
    }

    private var session: NFCTagReaderSession?
    private var chip: NFCISO7816Tag?
    private var waiting: (wish: Wish, reply: Reply)?
    /// The sheet was closed while no command was pending. The page does not know yet that its chip is gone.
    private var unreportedLoss: Loss?
    private var search = ChipReader.firstSearch
    private var searchedSince = Date()
    private var foundChip = false
    private var lost = false
    private var lastStep: ReadStep?
    private var refusals = 0
    private var exchanges = 0

    /// Before there is a chip: whether one that is found will have the application selected.
    private(set) var applicationSelected = ChipReader.firstSearch.selectsApplication

    static var isAvailable: Bool { NFCTagReaderSession.readingAvailable }

    private static var firstSearch: Sheet.Search {
        if #available(iOS 26.4, *) { return .either }
        return .application
    }

    // MARK: - what the page wants

    func transceive(_ command: [UInt8], reply: @escaping Reply) {
        // The page sends one command at a time: a second one cancels the first.
        settle(.lost(.cancelled))
        guard ChipReader.isAvailable else { return reply(.lost(.unavailable)) }
        if let loss = unreportedLoss {
            unreportedLoss = nil
            return reply(.lost(loss))
        }
        waiting = (.answer(command), reply)
        if let chip {
            send(command, to: chip)
        } else if session == nil {
            refusals = 0
            open()
        }
    }

    /// Turning the field off and on again is all that takes the power from a chip.
    func reset(reply: @escaping Reply) {
        settle(.lost(.cancelled))
        guard let session, unreportedLoss == nil else {
            let loss = unreportedLoss ?? .left
            unreportedLoss = nil
            return reply(.lost(loss))
        }
        waiting = (.returnedChip, reply)
        chip = nil
        session.restartPolling()
    }

    func show(_ step: ReadStep, percent: Int?) {
        lastStep = step
        // Until a chip is there the sheet asks for it.
        guard let session, chip != nil else { return }
        let (key, bar) = Sheet.progress(step, percent: percent)
        session.alertMessage = "\(key.text)\n\(bar)"
    }

    /// Aborts the current command, releases the chip and closes the sheet.
    func cancel() {
        unreportedLoss = nil
        settle(.lost(.cancelled))
        guard let closing = session else { return }
        let well = Sheet.endsWell(lastStep: lastStep, lost: lost)
        forgetSheet()
        if well {
            closing.alertMessage = TextKey.sheetDone.text
            closing.invalidate()
        } else {
            closing.invalidate(errorMessage: TextKey.sheetProblem.text)
        }
    }

    // MARK: - the sheet

    private func open() {
        let polling: NFCTagReaderSession.PollingOption
        switch search {
        case .application: polling = .iso14443
        case .pace: polling = .pace
        case .either: polling = [.iso14443, .pace]
        }
        guard let opened = NFCTagReaderSession(pollingOption: polling, delegate: self, queue: .main) else {
            return settle(.lost(.unavailable))
        }
        session = opened
        searchedSince = Date()
        foundChip = false
        lost = false
        lastStep = nil
        opened.alertMessage = TextKey.sheetHold.text
        opened.begin()
    }

    private func forgetSheet() {
        search = search.next(foundChip: foundChip, afterSeconds: Date().timeIntervalSince(searchedSince))
        applicationSelected = search.selectsApplication
        session = nil
        chip = nil
    }

    private func settle(_ reply: ShellReply) {
        let settled = waiting
        waiting = nil
        settled?.reply(reply)
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error) {
        // One that this reader closed itself is forgotten already.
        guard session === self.session else { return }
        let loss = Loss(sheetEndedWith: (error as NSError).code)
        let opensAgain = loss == .busy && !foundChip && waiting != nil && refusals < ChipReader.mostRefusals
        forgetSheet()
        if opensAgain {
            refusals += 1
            DispatchQueue.main.asyncAfter(deadline: .now() + ChipReader.pauseAfterRefusalSeconds) { [weak self] in
                guard let self, self.waiting != nil, self.session == nil else { return }
                self.open()
            }
        } else if waiting == nil {
            unreportedLoss = loss
        } else {
            settle(.lost(loss))
        }
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard session === self.session else { return }
        guard tags.count == 1, let tag = tags.first, case .iso7816(let found) = tag else {
            session.alertMessage = TextKey.sheetOneDocument.text
            session.restartPolling()
            return
        }
        session.connect(to: tag) { [weak self] error in
            guard let self, session === self.session else { return }
            if error != nil {
                // It was gone before it could be asked anything.
                session.restartPolling()
                return
            }
            self.arrived(found)
        }
    }

    // MARK: - the chip

    private func arrived(_ found: NFCISO7816Tag) {
        chip = found
        foundChip = true
        lost = false
        applicationSelected = !found.initialSelectedAID.isEmpty
        guard let waiting else { return }
        switch waiting.wish {
        case .answer(let command): send(command, to: found)
        case .returnedChip: settle(.done)
        }
    }

    private func send(_ command: [UInt8], to chip: NFCISO7816Tag) {
        guard let apdu = NFCISO7816APDU(data: Data(command)) else { return settle(.lost(.refused)) }
        exchanges += 1
        let number = exchanges
        chip.sendCommand(apdu: apdu) { [weak self] data, first, second, error in
            // The page may have given this one up, or the whole chip.
            guard let self, self.chip === chip, self.exchanges == number else { return }
            guard let error else { return self.settle(.answer([UInt8](data) + [first, second])) }
            let loss = Loss(commandFailedWith: (error as NSError).code)
            if loss == .left { self.lookAgain() }
            self.settle(.lost(loss))
        }
    }

    /// The sheet stays open and finds the chip again, which has forgotten its session. The page then begins a
    /// new one.
    private func lookAgain() {
        chip = nil
        lost = true
        session?.alertMessage = TextKey.sheetLost.text
        session?.restartPolling()
    }
}
