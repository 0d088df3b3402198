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
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { refreshOrganization, useMay, useWorkspace } from "../shell/organization-context.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmButton, Dialog } from "../ui/dialog.tsx";
import { Checkbox, Field, Select } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { toast } from "../ui/toasts.tsx";

function RoleSelect({ label, value }: { label: string; value: Role }) {
  const { organization } = useWorkspace();
  return (
    <Select
      label={label}
      name="role"
      defaultValue={value}
      options={roles
        .filter((role) => hasRole(organization.role, role))
        .map((role) => ({ value: role, label: t.members.about[role] }))}
    />
  );
}

export function MembersPage() {
  const { account, organization } = useWorkspace();
  const mayChange = useMay("admin");
  const members = useList(listMembers);
  const [inviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<string | null>(null);
  return (
    <>
      <Heading title={t.shell.pages.members}>
        {mayChange ? (
          <Button look="primary" onClick={() => setInviting(true)}>
            {t.members.invite}
          </Button>
        ) : null}
      </Heading>
      {invited === null ? null : (
        <Notice kind="good">
          <Filled text={t.members.invited} email={<bdi>{invited}</bdi>} />
        </Notice>
      )}
      <Card>
        <ListTable
          caption={t.shell.pages.members}
          list={members}
          rowKey={({ id }) => id}
          empty={t.members.none}
          columns={[
            {
              header: t.ui.name,
              cell: (member) => (
                <>
                  <bdi className="font-medium">{member.name}</bdi>{" "}
                  {member.user_id === account.id ? <Badge look="plain">{t.members.you}</Badge> : null}
                </>
              ),
            },
            { header: t.ui.email, cell: (member) => <bdi>{member.email}</bdi> },
            { header: t.ui.role, cell: (member) => t.ui.roles[member.role] },
            { header: t.members.joined, cell: (member) => <Time at={member.created_at} /> },
            {
              header: t.ui.actions,
              cell: (member) =>
                mayChange && hasRole(organization.role, member.role) ? (
                  <MemberActions member={member} />
                ) : null,
            },
          ]}
        />
      </Card>
      {hasRole(organization.role, "admin") ? <Invitations mayChange={mayChange} /> : null}
      <Card title={t.members.leaveTitle}>
        <p className="mb-4">{t.members.leaveText}</p>
        <ConfirmButton
          title={t.members.leaveAsk(organization.name)}
          explanation={t.members.leaveNow}
          confirm={t.members.leave}
          run={async () => {
            await call(leaveOrganization, {});
            window.location.assign("/dashboard");
          }}
        >
          {t.members.leave}
        </ConfirmButton>
      </Card>
      {inviting ? (
        <Dialog title={t.members.invite} onClose={() => setInviting(false)}>
          <Form
            submit={t.members.send}
            onSubmit={async (values) => {
              const email = values.text("email");
              await call(createInvitation, { body: { email, role: values.raw("role") as Role } });
              await refresh(listInvitations);
              setInvited(email);
              setInviting(false);
            }}
          >
            <Field label={t.ui.email} name="email" type="email" hint={t.members.emailHint} />
            <RoleSelect label={t.ui.role} value="member" />
          </Form>
        </Dialog>
      ) : null}
    </>
  );
}

type MemberView = Static<typeof Member>;

/** What the member created, which works on without them, and the choice to disable their API keys. */
function MadeByMember({ member }: { member: MemberView }) {
  const { active_api_keys: keys, webhook_endpoints: endpoints, webhook_keys: encryptionKeys } = member.made;
  return (
    <>
      {keys === 0 ? null : (
        <Checkbox
          name="disable_keys"
          defaultChecked
          label={t.members.disableKeys({ name: member.name, count: keys })}
        />
      )}
      {endpoints + encryptionKeys === 0 ? null : (
        <p className="text-muted">{t.members.made({ endpoints, keys: encryptionKeys })}</p>
      )}
    </>
  );
}

function RemoveMember({ member, onClose }: { member: MemberView; onClose: () => void }) {
  return (
    <Dialog title={t.members.removeAsk(member.name)} onClose={onClose}>
      <Form
        submit={t.ui.remove}
        onSubmit={async (values) => {
          const { data } = await call(removeMember, {
            params: { id: member.id },
            query: { disable_keys: values.checked("disable_keys") },
          });
          await refresh(listMembers);
          toast(
            data.disabled_api_keys === 0
              ? t.members.removed
              : t.members.removedWithKeys(data.disabled_api_keys),
          );
          onClose();
        }}
      >
        <p>
          <Filled text={t.members.removeText} email={<bdi>{member.email}</bdi>} />
        </p>
        <MadeByMember member={member} />
      </Form>
    </Dialog>
  );
}

function MemberActions({ member }: { member: MemberView }) {
  const { account } = useWorkspace();
  const [editing, setEditing] = useState(false);
  const [removing, setRemoving] = useState(false);
  return (
    <div className="flex flex-wrap gap-2">
      <Button small label={t.members.changeRoleOf(member.name)} onClick={() => setEditing(true)}>
        {t.members.changeRole}
      </Button>
      {member.user_id === account.id ? null : (
        <Button
          small
          look="danger"
          label={t.members.removeOne(member.name)}
          onClick={() => setRemoving(true)}
        >
          {t.ui.remove}
        </Button>
      )}
      {removing ? <RemoveMember member={member} onClose={() => setRemoving(false)} /> : null}
      {editing ? (
        <Dialog title={t.members.roleOf(member.name)} onClose={() => setEditing(false)}>
          <Form
            submit={t.ui.save}
            onSubmit={async (values) => {
              const role = values.raw("role") as Role;
              // A member who may still manage keys keeps theirs, whatever the checkbox says.
              const disableKeys = values.checked("disable_keys") && !hasRole(role, "admin");
              await call(updateMember, {
                params: { id: member.id },
                body: { role, disable_keys: disableKeys },
              });
              await Promise.all([refresh(listMembers), refreshOrganization()]);
              setEditing(false);
            }}
          >
            <RoleSelect label={t.ui.role} value={member.role} />
            {hasRole(member.role, "admin") && member.made.active_api_keys > 0 ? (
              <fieldset className="space-y-1">
                <legend className="font-medium">{t.members.ifMember}</legend>
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
  const { organization } = useWorkspace();
  const invitations = useList(listInvitations);
  return (
    <Card title={t.members.open}>
      <ListTable
        caption={t.members.open}
        list={invitations}
        rowKey={({ id }) => id}
        empty={t.members.noneOpen}
        columns={[
          { header: t.ui.email, cell: (invitation) => <bdi>{invitation.email}</bdi> },
          { header: t.ui.role, cell: (invitation) => t.ui.roles[invitation.role] },
          { header: t.ui.expires, cell: (invitation) => <Time ahead at={invitation.expires_at} /> },
          {
            header: t.ui.actions,
            cell: (invitation) =>
              mayChange && hasRole(organization.role, invitation.role) ? (
                <ConfirmButton
                  small
                  label={t.members.revokeOne(invitation.email)}
                  title={t.members.revokeAsk}
                  explanation={t.members.revokeText(invitation.email)}
                  confirm={t.members.revoke}
                  done={t.members.revoked}
                  run={async () => {
                    await call(revokeInvitation, { params: { id: invitation.id } });
                    await refresh(listInvitations);
                  }}
                >
                  {t.members.revoke}
                </ConfirmButton>
              ) : null,
          },
        ]}
      />
    </Card>
  );
}
