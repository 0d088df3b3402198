import type { MailTexts } from "../mail-texts.ts";

export const en: MailTexts = {
  hello: "Hello,",
  helloName: "Hello {name},",
  orOpen: "If the button does not work, open this address:",
  sentBy: "Sent by Assay at {host}. Assay verifies people by the chip of their passport or identity card.",
  closing: {
    ignore: "If you did not expect this, you can ignore this mail.",
    notYou: "If this was not you, reset your password and sign out everywhere else at once.",
  },
  because: {
    asked: "You get this mail because it was asked for with your address at {host}.",
    address: "You get this mail because somebody entered your address at {host}.",
    account: "You get this mail because it concerns the security of your account at {host}.",
    formerAccount: "You get this mail because you had an account at {host}.",
    invited: "You get this mail because somebody invited this address at {host}.",
    owner: "You get this mail because you are an owner of {organization} at {host}.",
    formerOwner: "You get this mail because you were an owner of {organization} at {host}.",
    operator: "You get this mail because OPERATOR_EMAIL of the installation at {host} is this address.",
  },
  removed: {
    passkeys: "Passkeys sign in without the password, so they were removed: {names}. Add yours again.",
    second_factor: "The second factor that was set up before the e-mail was proven was removed.",
  },
  roles: { member: "a member", admin: "an admin", owner: "an owner" },
  letters: {
    magic_link: {
      subject: "Your link to sign in",
      body: ["This link signs you in. It works once, for 15 minutes."],
      button: "Sign in",
    },
    reset_password: {
      subject: "Set a new password",
      body: [
        "This link lets you set a new password and signs you out everywhere. It works once, for an hour.",
      ],
      button: "Set a new password",
    },
    verify_email: {
      subject: "Verify your e-mail",
      body: [
        "An account was made with this address. Open the link and sign in with the password that was chosen. It works for a day.",
        "If you did not make the account, you can ignore this mail: the address is then not verified.",
      ],
      button: "Verify the e-mail",
    },
    change_email: {
      subject: "Confirm your new e-mail",
      body: [
        "This address is to become the e-mail of your account. Open the link while you are signed in. It works once, for an hour.",
      ],
      button: "Use this e-mail",
    },
    account_exists: {
      subject: "You already have an account",
      body: [
        "Somebody wanted to sign up with this address. It already has an account, so nothing was changed.",
        "If it was you, sign in. If you do not know the password, set a new one: {reset}",
      ],
      button: "Sign in",
    },
    email_taken: {
      subject: "This e-mail already has an account",
      body: [
        "Somebody wanted to make this address the e-mail of another account. It already has an account, so nothing was changed.",
        "If it was you, sign in with this address, or delete its account first.",
      ],
    },
    email_change_requested: {
      subject: "A change of your e-mail was asked for",
      body: ["Your account is to get the e-mail {email}. Nothing changes until that address confirms it."],
    },
    email_changed: {
      subject: "Your e-mail was changed",
      body: ["Your account now has the e-mail {email}. This address no longer signs in."],
    },
    password_changed: {
      subject: "Your password was changed",
      body: ["The password of your account was changed, and every other session was signed out."],
    },
    password_reset: {
      subject: "Your password was reset",
      body: ["A new password was set with a mailed link, and every session was signed out."],
    },
    email_verified: {
      subject: "Your e-mail was verified",
      body: [
        "You signed in with a link before the e-mail was verified. It is verified now. The password that was set before was removed; set a new one with “forgot password”.",
      ],
    },
    passkey_added: {
      subject: "A passkey was added",
      body: ["The passkey “{name}” was added to your account. It can sign in."],
    },
    passkey_deleted: {
      subject: "A passkey was deleted",
      body: ["The passkey “{name}” was deleted from your account."],
    },
    second_factor_on: {
      subject: "The second factor was turned on",
      body: ["From now on your account asks for a code of the authenticator app."],
    },
    second_factor_off: {
      subject: "The second factor was turned off",
      body: ["Your account no longer asks for a code."],
    },
    account_deleted: {
      subject: "Your account was deleted",
      body: [
        "Your account and everything that belonged to it alone were deleted. You can sign up again with the same e-mail.",
      ],
    },
    invitation: {
      subject: "Invitation to {organization}",
      body: [
        "{inviter} ({email}) invites you to join {organization} as {role}.",
        "{organization} uses Assay to check who its customers are. Sign in with this e-mail address, or create an account with it, and accept. The link is good for 7 days.",
      ],
      button: "Open the invitation",
    },
    deletion_code: {
      subject: "Code to delete {organization}",
      body: [
        "You asked to delete the organization {organization}. Enter this code to confirm:",
        "{code}",
        "It is good for 24 hours and only for you. After confirmation the organization freezes at once, and 48 hours later everything in it is deleted for good.",
        "If it was not you who asked, change your password: somebody is signed in to your account.",
      ],
    },
    deletion_scheduled: {
      subject: "{organization} will be deleted",
      body: [
        "{person} ({email}) has confirmed the deletion of the organization {organization}.",
        "It is frozen now: API keys do not work and nothing can be changed. On {at} everything in it will be deleted for good.",
        "Until then an owner or admin can keep it.",
      ],
      button: "Open the organization",
    },
    deletion_cancelled: {
      subject: "{organization} stays",
      body: [
        "{person} ({email}) has cancelled the deletion of the organization {organization}. Everything works again, API keys included.",
      ],
      button: "Open the organization",
    },
    organization_deleted: {
      subject: "{organization} was deleted",
      body: [
        "The organization {organization} and everything in it were deleted on {at}. Your own account stays.",
        "This is the signed receipt. Keep it: nothing is left here from which it could be made again.",
        "{receipt}",
        'It is a compact JWS signed with Ed25519. The public key is at {keys}, named by its "kid".',
      ],
    },
    domain_missing: {
      subject: "The verification record of {domain} is missing",
      body: [
        "Three daily checks in a row did not find the TXT record that proves your control of {domain}.",
        "Until it is back, live sessions cannot send people to this domain. The redirect URIs are kept.",
        "Publish the record at {record} again, or verify the domain anew.",
      ],
      button: "Open the domains",
    },
    domain_back: {
      subject: "{domain} is verified again",
      body: ["The verification record of {domain} is back. Live sessions can send people there again."],
      button: "Open the domains",
    },
    domain_lost: {
      subject: "{domain} is now verified by another organization",
      body: [
        "Another organization has proven that it controls {domain} and has taken the domain over from {organization}.",
        "The redirect URIs on this domain are removed, and live sessions can no longer send people there.",
        "If the domain is yours, check who can change its DNS, remove their verification record and verify the domain again.",
      ],
      button: "Open the domains",
    },
    no_active_key: {
      subject: "A webhook could not be sent: no active encryption key",
      body: [
        "An event was meant for a webhook endpoint that has no active encryption key. Webhooks are always encrypted, so nothing was sent, and this event cannot be sent later.",
        "Endpoint: {endpoint}",
        "Register a key, or reactivate one, so that the next event arrives. The outcome itself can be read from the session.",
      ],
      button: "Open webhooks",
    },
    endpoint_gone: {
      subject: "A webhook endpoint was disabled",
      body: [
        "We disabled a webhook endpoint because it answered 410 Gone, which asks us to stop.",
        "Endpoint: {endpoint}",
        "What is waiting for it is held. Enable the endpoint again when it works, and the deliveries go on.",
      ],
      button: "Open webhooks",
    },
    endpoint_failing: {
      subject: "A webhook endpoint was disabled",
      body: [
        "We disabled a webhook endpoint because no delivery to it has succeeded for five days.",
        "Endpoint: {endpoint}",
        "What is waiting for it is held. Enable the endpoint again when it works, and the deliveries go on.",
      ],
      button: "Open webhooks",
    },
    member_keys: {
      subject: "API keys of a member who lost access",
      body: [
        "{person} ({email}) no longer manages API keys of {organization}.",
        "API keys that they made and that were disabled with this: {disabled}.",
        "API keys that they made and that still work: {active}. Who has kept one can go on using it until you disable or delete it.",
      ],
      button: "Open the API keys",
    },
    endpoint_added: {
      subject: "A webhook endpoint was added",
      body: [
        "A webhook endpoint was added to live. Results of verifications are sent to it once it has an encryption key.",
        "Endpoint: {endpoint}",
        "Added by: {actor}",
        "If you did not expect this, disable the endpoint and check who has API keys.",
      ],
      button: "Open webhooks",
    },
    endpoint_moved: {
      subject: "The address of a webhook endpoint was changed",
      body: [
        "The URL of a webhook endpoint in live was changed. Results of verifications are sent to the new address from now on.",
        "Endpoint: {endpoint}",
        "Changed by: {actor}",
        "If you did not expect this, disable the endpoint and check who has API keys.",
      ],
      button: "Open webhooks",
    },
    key_added: {
      subject: "An encryption key was added",
      body: [
        "An encryption key was added to a webhook endpoint in live, or activated again. Who holds its private part can read the results that are sent there.",
        "Endpoint: {endpoint}",
        "Key: {key}",
        "Added by: {actor}",
        "If you did not expect this, deactivate the key and check who has API keys.",
      ],
      button: "Open webhooks",
    },
    signer_revoked: {
      subject: "The signer of a list that you trust was revoked",
      body: [
        "{signer}, who signed {list}, is on a revocation list that came after it was imported. What the list names stays trusted until you decide.",
        "To take it back, run:",
        "{remove}",
      ],
    },
    authorities_leave: {
      subject: "{count} trusted authorities are to be removed",
      body: [
        "The newest edition of {address} lacks {count} authorities that the edition before had. They count until {at} and are removed then.",
        "Authorities:\n{names}",
        "To keep them, run:",
        "{keep}",
        "To remove them at once, run:",
        "{remove}",
      ],
    },
  },
};
