import {
  createInvitation,
  leaveOrganization,
  listInvitations,
  listMembers,
  type Member,
  removeMember,
  revokeInvitation,
  updateMember,
} from "@assay/contract/organizations";
import { hasRole, type Role, roles } from "@assay/contract/route";
import { useState } from "react";
import type { Static } from "typebox";
import { call } from "../api/call.ts";
import { refresh, useList } from "../api/queries.ts";
import { refreshOrganization, useMay, usePlace } from "../shell/organization-context.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmButton, Dialog } from "../ui/dialog.tsx";
import { Checkbox, Field, Select } from "../ui/field.tsx";
import { inWords } from "../ui/filters.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { toast } from "../ui/toasts.tsx";

const about: Record<Role, string> = {
  member: "Member: reads sessions, webhooks and members",
  admin: "Admin: also manages keys, webhooks, sessions and members",
  owner: "Owner: also domains, terms, going live and deletion",
};

function RoleSelect({ label, value }: { label: string; value: Role }) {
  const { organization } = usePlace();
  return (
    <Select
      label={label}
      name="role"
      defaultValue={value}
      options={roles
        .filter((role) => hasRole(organization.role, role))
        .map((role) => ({ value: role, label: about[role] }))}
    />
  );
}

export function MembersPage() {
  const { account, organization } = usePlace();
  const mayChange = useMay("admin");
  const members = useList(listMembers);
  const [inviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<string | null>(null);
  return (
    <>
      <Heading title="Members">
        {mayChange ? (
          <Button look="primary" onClick={() => setInviting(true)}>
            Invite member
          </Button>
        ) : null}
      </Heading>
      {invited === null ? null : (
        <Notice kind="good">
          Invitation sent to <bdi>{invited}</bdi>. It expires in 7 days.
        </Notice>
      )}
      <Card>
        <ListTable
          caption="Members"
          list={members}
          rowKey={({ id }) => id}
          empty="No members."
          columns={[
            {
              header: "Name",
              cell: (member) => (
                <>
                  <bdi className="font-medium">{member.name}</bdi>{" "}
                  {member.user_id === account.id ? <Badge look="plain">You</Badge> : null}
                </>
              ),
            },
            { header: "Email", cell: (member) => <bdi>{member.email}</bdi> },
            { header: "Role", cell: (member) => inWords(member.role) },
            { header: "Joined", cell: (member) => <Time at={member.created_at} /> },
            {
              header: "Actions",
              cell: (member) =>
                mayChange && hasRole(organization.role, member.role) ? (
                  <MemberActions member={member} />
                ) : null,
            },
          ]}
        />
      </Card>
      {hasRole(organization.role, "admin") ? <Invitations mayChange={mayChange} /> : null}
      <Card title="Leave organization">
        <p className="mb-4">
          You lose access immediately and need an invitation to rejoin. The last owner cannot leave.
        </p>
        <ConfirmButton
          title={`Leave ${organization.name}?`}
          explanation="You lose access immediately."
          confirm="Leave"
          run={async () => {
            await call(leaveOrganization, {});
            window.location.assign("/dashboard");
          }}
        >
          Leave
        </ConfirmButton>
      </Card>
      {inviting ? (
        <Dialog title="Invite member" onClose={() => setInviting(false)}>
          <Form
            submit="Send invitation"
            onSubmit={async (values) => {
              const email = values.text("email");
              await call(createInvitation, { body: { email, role: values.raw("role") as Role } });
              await refresh(listInvitations);
              setInvited(email);
              setInviting(false);
            }}
          >
            <Field label="Email" name="email" type="email" hint="Only this address can accept." />
            <RoleSelect label="Role" value="member" />
          </Form>
        </Dialog>
      ) : null}
    </>
  );
}

type MemberView = Static<typeof Member>;

/** What the member made and goes on working without them, and the choice to stop their keys. */
function MadeByMember({ member }: { member: MemberView }) {
  const { active_api_keys: keys, webhook_endpoints: endpoints, webhook_keys: encryptionKeys } = member.made;
  return (
    <>
      {keys === 0 ? null : (
        <Checkbox
          name="disable_keys"
          defaultChecked
          label={`Disable active API keys created by ${member.name}: ${keys}`}
        />
      )}
      {endpoints + encryptionKeys === 0 ? null : (
        <p className="text-muted">
          {`Webhook endpoints they created: ${endpoints}. Encryption keys: ${encryptionKeys}. These stay; review them under Webhooks.`}
        </p>
      )}
    </>
  );
}

function RemoveMember({ member, onClose }: { member: MemberView; onClose: () => void }) {
  return (
    <Dialog title={`Remove ${member.name}?`} onClose={onClose}>
      <Form
        submit="Remove"
        onSubmit={async (values) => {
          const { data } = await call(removeMember, {
            params: { id: member.id },
            query: { disable_keys: values.checked("disable_keys") },
          });
          await refresh(listMembers);
          toast(
            data.disabled_api_keys === 0
              ? "Member removed."
              : `Member removed. API keys disabled: ${data.disabled_api_keys}.`,
          );
          onClose();
        }}
      >
        <p>
          <bdi>{member.email}</bdi> loses access immediately. Their account stays.
        </p>
        <MadeByMember member={member} />
      </Form>
    </Dialog>
  );
}

function MemberActions({ member }: { member: MemberView }) {
  const { account } = usePlace();
  const [editing, setEditing] = useState(false);
  const [removing, setRemoving] = useState(false);
  return (
    <div className="flex flex-wrap gap-2">
      <Button small label={`Change role of ${member.name}`} onClick={() => setEditing(true)}>
        Change role
      </Button>
      {member.user_id === account.id ? null : (
        <Button small look="danger" label={`Remove ${member.name}`} onClick={() => setRemoving(true)}>
          Remove
        </Button>
      )}
      {removing ? <RemoveMember member={member} onClose={() => setRemoving(false)} /> : null}
      {editing ? (
        <Dialog title={`Role of ${member.name}`} onClose={() => setEditing(false)}>
          <Form
            submit="Save"
            onSubmit={async (values) => {
              const role = values.raw("role") as Role;
              // Who still manages keys keeps their own, whatever the box says.
              const disableKeys = values.checked("disable_keys") && !hasRole(role, "admin");
              await call(updateMember, {
                params: { id: member.id },
                body: { role, disable_keys: disableKeys },
              });
              await Promise.all([refresh(listMembers), refreshOrganization()]);
              setEditing(false);
            }}
          >
            <RoleSelect label="Role" value={member.role} />
            {hasRole(member.role, "admin") && member.made.active_api_keys > 0 ? (
              <fieldset className="space-y-1">
                <legend className="font-medium">If the new role is member</legend>
                <MadeByMember member={member} />
              </fieldset>
            ) : null}
          </Form>
        </Dialog>
      ) : null}
    </div>
  );
}

function Invitations({ mayChange }: { mayChange: boolean }) {
  const { organization } = usePlace();
  const invitations = useList(listInvitations);
  return (
    <Card title="Open invitations">
      <ListTable
        caption="Open invitations"
        list={invitations}
        rowKey={({ id }) => id}
        empty="No open invitations."
        columns={[
          { header: "Email", cell: (invitation) => <bdi>{invitation.email}</bdi> },
          { header: "Role", cell: (invitation) => inWords(invitation.role) },
          { header: "Expires", cell: (invitation) => <Time ahead at={invitation.expires_at} /> },
          {
            header: "Actions",
            cell: (invitation) =>
              mayChange && hasRole(organization.role, invitation.role) ? (
                <ConfirmButton
                  small
                  label={`Revoke the invitation of ${invitation.email}`}
                  title="Revoke invitation?"
                  explanation={`The link mailed to ${invitation.email} stops working.`}
                  confirm="Revoke"
                  done="Invitation revoked."
                  run={async () => {
                    await call(revokeInvitation, { params: { id: invitation.id } });
                    await refresh(listInvitations);
                  }}
                >
                  Revoke
                </ConfirmButton>
              ) : null,
          },
        ]}
      />
    </Card>
  );
}
