import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { peopleQueries } from '../../api/queries/people.ts'
import { useWrite } from '../../api/write.ts'
import { useOpened } from '../../app/change-search.ts'
import { ageOf, day } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { Tag } from '../../ui/tag.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { settings as place } from './place.ts'
import { SectionHead } from './section-head.tsx'
import { TokenSheet } from './token-sheet.tsx'

type Token = Schema<'Token'>

export function TokensSection() {
  const query = useQuery(peopleQueries.tokens())
  const { data: settings } = useQuery(peopleQueries.settings())
  const [isMaking, setMaking] = useOpened('new', place.useSearch().new)
  const [revoking, setRevoking] = useState<Token>()
  const say = words.people.tokens
  const newToken = (
    <Button look="primary" icon={<Plus size={15} aria-hidden />} onClick={() => setMaking(true)}>
      {say.new}
    </Button>
  )
  return (
    <>
      <SectionHead title={say.title} text={say.text} action={newToken} />
      <DataTable
        label={say.title}
        columns={columnsFor(setRevoking)}
        rows={query.data?.data}
        rowKey={({ name }) => name}
        query={query}
        rowHeight={36}
        phoneRow={phoneRowFor(setRevoking)}
        empty={<Empty title={say.empty} actions={newToken} />}
      />
      {settings !== undefined && (
        <p className="max-w-180 px-6 py-4 text-12 text-ink-3 phone:px-4">
          {settings.install.admin_token === 'off'
            ? say.nodeTokenOff
            : `${say.nodeToken} ${say.nodeTokenHint}`}
        </p>
      )}
      {isMaking && <TokenSheet onClose={() => setMaking(false)} />}
      {revoking && <RevokeDialog token={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  )
}

function phoneRowFor(revoke: (token: Token) => void) {
  const say = words.people.tokens
  return (token: Token) => (
    <PhoneRow
      title={token.name}
      end={<Ends token={token} />}
      note={`${words.shell.roles[token.role]}, ${token.read_only ? say.readOnly : say.readWrite}, …${token.tail}`}
      endNote={<Used token={token} />}
      action={
        <Button size="small" look="danger" onClick={() => revoke(token)}>
          {say.revoke}
        </Button>
      }
    />
  )
}

function columnsFor(revoke: (token: Token) => void): readonly Column<Token>[] {
  const say = words.people.tokens
  return [
    {
      id: 'name',
      head: say.name,
      cell: ({ name, tail }) => (
        <span className="flex items-center gap-2">
          <span className="font-strong">{name}</span>
          <span className="mono-12 text-ink-3">…{tail}</span>
        </span>
      ),
    },
    { id: 'role', head: say.role, width: 110, cell: ({ role }) => words.shell.roles[role] },
    {
      id: 'projects',
      head: say.projects,
      cell: ({ projects }) =>
        projects === null ? (
          <span className="text-ink-3">{words.people.members.all}</span>
        ) : (
          projects.join(', ') || <span className="text-ink-3">{words.people.members.noProjects}</span>
        ),
    },
    {
      id: 'may',
      head: say.may,
      width: 116,
      cell: (token) => <span className="text-ink-2">{token.read_only ? say.readOnly : say.readWrite}</span>,
    },
    {
      id: 'by',
      drop: 1,
      head: say.by,
      cell: (token) => <span className="text-ink-2">{token.created_by}</span>,
    },
    { id: 'used', head: say.used, width: 110, cell: (token) => <Used token={token} /> },
    { id: 'ends', head: say.expires, width: 110, cell: (token) => <Ends token={token} /> },
    {
      id: 'revoke',
      head: '',
      width: 90,
      align: 'right',
      cell: (token) => (
        <Button size="small" look="danger" onClick={() => revoke(token)}>
          {say.revoke}
        </Button>
      ),
    },
  ]
}

function Used({ token }: { readonly token: Token }) {
  const nowMs = useNow()
  return token.last_used_at === null ? (
    <span className="text-ink-3">{words.people.tokens.never}</span>
  ) : (
    <span className="tabular-nums text-ink-2">{ageOf(token.last_used_at, nowMs)}</span>
  )
}

function Ends({ token }: { readonly token: Token }) {
  const nowMs = useNow()
  return Date.parse(token.expires_at) < nowMs ? (
    <Tag tone="bad">{words.people.tokens.ended}</Tag>
  ) : (
    <span className="tabular-nums text-ink-2">{day(token.expires_at)}</span>
  )
}

function RevokeDialog({ token, onClose }: { readonly token: Token; readonly onClose: () => void }) {
  const { send } = useWrite('delete', '/api/v1/tokens/{name}')
  const say = words.people.tokens
  const { name } = token
  return (
    <ConfirmDialog
      title={say.revokeTitle(name)}
      description={say.revokeText}
      go={say.revoke}
      onGo={async () => {
        await send({ params: { path: { name } } })
        toast(say.revoked(name))
      }}
      onClose={onClose}
    />
  )
}
