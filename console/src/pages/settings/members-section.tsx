import { useQuery } from '@tanstack/react-query'
import { MoreHorizontal, UserPlus } from 'lucide-react'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { peopleQueries } from '../../api/queries/people.ts'
import { useWrite } from '../../api/write.ts'
import { useOpened } from '../../app/change-search.ts'
import { ageOf, day, initials } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { useMay, useSession } from '../../app/session.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { Tag } from '../../ui/tag.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { settings as place } from './place.ts'
import { InviteSheet, MemberSheet } from './member-sheets.tsx'

type Member = Schema<'Member'>
type Invitation = Schema<'Invitation'>

/** Members, and below them those who were invited. */
type Row = { readonly member: Member } | { readonly invitation: Invitation }

type Open =
  | { readonly what: 'invite'; readonly member?: Pick<Member, 'email' | 'role' | 'projects'> }
  | { readonly what: 'change' | 'disable'; readonly member: Member }

export function MembersSection() {
  const members = useQuery(peopleQueries.members())
  const invitations = useQuery(peopleQueries.invitations())
  const may = useMay()
  const [opened, setOpened] = useState<Open>()
  const [isInviting, setInviting] = useOpened('new', place.useSearch().new)
  const open: Open | undefined = isInviting && may('members.invite') ? { what: 'invite' } : opened
  const setOpen = (next: Open | undefined): void => {
    const isNew = next?.what === 'invite' && next.member === undefined
    if (isNew || isInviting) setInviting(isNew)
    setOpened(isNew ? undefined : next)
  }
  const rows = members.data && [
    ...members.data.data.map((member): Row => ({ member })),
    ...(invitations.data?.data ?? []).map((invitation): Row => ({ invitation })),
  ]
  const say = words.people.members
  const close = (): void => setOpen(undefined)
  return (
    <>
      <div className="flex min-h-13 items-center gap-2 px-6 py-2.5 phone:px-4">
        <h2 className="text-13 font-semibold">{say.title}</h2>
        <span className="tabular-nums text-ink-3">{rows?.length}</span>
        <Button
          look="primary"
          className="ml-auto"
          icon={<UserPlus size={15} aria-hidden />}
          why={may('members.invite') ? undefined : words.settings.forbidden(say.invite)}
          onClick={() => setOpen({ what: 'invite' })}
        >
          {say.invite}
        </Button>
      </div>
      <DataTable
        label={say.title}
        columns={columnsFor(setOpen)}
        rows={rows}
        rowKey={(row) => ('member' in row ? row.member.id : row.invitation.email)}
        query={members}
        rowHeight={46}
        phoneRow={phoneRowFor(setOpen)}
        empty={<Empty title={say.empty} />}
      />
      {open?.what === 'invite' && (
        <InviteSheet {...(open.member && { member: open.member })} onClose={close} />
      )}
      {open?.what === 'change' && <MemberSheet member={open.member} onClose={close} />}
      {open?.what === 'disable' && <DisableDialog member={open.member} onClose={close} />}
    </>
  )
}

function phoneRowFor(open: (next: Open) => void) {
  return (row: Row) => (
    <span className="flex items-center justify-between gap-3">
      <Who row={row} />
      <span className="ml-auto text-12 text-ink-2">{roleOf(row)}</span>
      <More row={row} open={open} />
    </span>
  )
}

function roleOf(row: Row): string {
  return words.shell.roles[('member' in row ? row.member : row.invitation).role]
}

function columnsFor(open: (next: Open) => void): readonly Column<Row>[] {
  const say = words.people.members
  return [
    { id: 'name', head: say.name, least: 250, cell: (row) => <Who row={row} /> },
    {
      id: 'role',
      head: say.role,
      width: 120,
      cell: roleOf,
    },
    {
      id: 'projects',
      width: 140,
      head: say.projects,
      cell: (row) => {
        const { projects } = 'member' in row ? row.member : row.invitation
        if (projects === null) return <span className="text-ink-3">{say.all}</span>
        return projects.length === 0 ? (
          <span className="text-ink-3">{say.noProjects}</span>
        ) : (
          projects.join(', ')
        )
      },
    },
    {
      id: 'source',
      head: say.source,
      width: 110,
      cell: (row) => (
        <span className="text-ink-2">{'member' in row ? say.sources[row.member.source] : '–'}</span>
      ),
    },
    { id: 'seen', head: say.seen, width: 110, cell: (row) => <Seen row={row} /> },
    { id: 'more', head: '', width: 72, align: 'right', cell: (row) => <More row={row} open={open} /> },
  ]
}

function Who({ row }: { readonly row: Row }) {
  const { member: own } = useSession()
  const say = words.people.members
  const isMember = 'member' in row
  const name = isMember ? row.member.name : row.invitation.email
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      <span
        aria-hidden
        className="flex size-7 shrink-0 items-center justify-center rounded-full bg-accent-tint text-11 font-semibold text-accent"
      >
        {initials(name)}
      </span>
      <span className="min-w-0">
        <span className="flex items-center gap-2 leading-5">
          <span dir="auto" title={name} className="truncate font-strong">
            {name}
          </span>
          {isMember && row.member.id === own?.id && <Tag>{say.you}</Tag>}
          {isMember && row.member.disabled_at !== null && <Tag tone="bad">{say.disabled}</Tag>}
          {!isMember && <Tag tone="accent">{say.invited}</Tag>}
        </span>
        <span className="block truncate text-12 leading-4 text-ink-3">
          {isMember ? row.member.email : say.invitedUntil(day(row.invitation.expires_at))}
        </span>
      </span>
    </span>
  )
}

function Seen({ row }: { readonly row: Row }) {
  const nowMs = useNow()
  if (!('member' in row)) return <span className="text-ink-3">–</span>
  const { last_seen_at: seenAt } = row.member
  return seenAt === null ? (
    <span className="text-ink-3">{words.people.members.never}</span>
  ) : (
    <span className="tabular-nums text-ink-2">{ageOf(seenAt, nowMs)}</span>
  )
}

function More({ row, open }: { readonly row: Row; readonly open: (next: Open) => void }) {
  return 'member' in row ? (
    <MemberMenu member={row.member} open={open} />
  ) : (
    <InvitationMenu invitation={row.invitation} open={open} />
  )
}

const trigger = (name: string) => (
  <IconButton label={words.people.members.menu(name)} size="small">
    <MoreHorizontal size={15} aria-hidden />
  </IconButton>
)

interface MenuProps {
  readonly open: (next: Open) => void
}

function InvitationMenu({ invitation, open }: MenuProps & { readonly invitation: Invitation }) {
  const withdraw = useWrite('delete', '/api/v1/invitations/{email}')
  const say = words.people.members
  const { email } = invitation
  return (
    <Menu align="end" trigger={trigger(email)}>
      <MenuItem onSelect={() => open({ what: 'invite', member: invitation })}>{say.inviteAgain}</MenuItem>
      <MenuItem
        danger
        onSelect={() => withdraw.now({ params: { path: { email } } }, () => toast(say.withdrawn(email)))}
      >
        {say.withdraw}
      </MenuItem>
    </Menu>
  )
}

function MemberMenu({ member, open }: MenuProps & { readonly member: Member }) {
  const endSessions = useWrite('delete', '/api/v1/members/{id}/sessions')
  const change = useWrite('patch', '/api/v1/members/{id}')
  const say = words.people.members
  const params = { path: { id: member.id } }
  const isDisabled = member.disabled_at !== null
  return (
    <Menu align="end" trigger={trigger(member.name)}>
      <MenuItem onSelect={() => open({ what: 'change', member })}>{say.change}</MenuItem>
      {member.source === 'local' && !isDisabled && (
        <MenuItem onSelect={() => open({ what: 'invite', member })}>{say.inviteAgain}</MenuItem>
      )}
      <MenuItem onSelect={() => endSessions.now({ params }, () => toast(say.ended(member.name)))}>
        {say.endSessions}
      </MenuItem>
      <MenuLine />
      {isDisabled ? (
        <MenuItem onSelect={() => change.now({ params, body: { disabled: false } })}>{say.enable}</MenuItem>
      ) : (
        <MenuItem danger onSelect={() => open({ what: 'disable', member })}>
          {say.disable}
        </MenuItem>
      )}
    </Menu>
  )
}

function DisableDialog({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const { send } = useWrite('patch', '/api/v1/members/{id}')
  const say = words.people.members
  return (
    <ConfirmDialog
      title={say.disableTitle(member.name)}
      description={say.disableText}
      go={say.disable}
      onGo={() => send({ params: { path: { id: member.id } }, body: { disabled: true } })}
      onClose={onClose}
    />
  )
}
