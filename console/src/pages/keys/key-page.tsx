import { useQuery } from '@tanstack/react-query'
import { MoreHorizontal } from 'lucide-react'
import { useState } from 'react'
import { keyQueries } from '../../api/queries/keys.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { Missing } from '../../app/problems.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Empty } from '../../ui/empty.tsx'
import { usePhone } from '../../ui/media.ts'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { LockTag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import type { Key } from './columns.tsx'
import { KeyHistory, KeySecrets, KeyTerms } from './key-parts.tsx'
import type { Once } from './once-dialog.tsx'
import { key as place } from './place.ts'

const RequestsOf = lazyPart(async () => (await import('../../parts/requests/requests-of.tsx')).RequestsOf)
const UsageOf = lazyPart(async () => (await import('../../parts/usage/usage-of.tsx')).UsageOf)
const KeySheet = lazyPart(async () => (await import('./key-sheet.tsx')).KeySheet)
const RevokeDialog = lazyPart(async () => (await import('./key-dialogs.tsx')).RevokeDialog)
const RotateDialog = lazyPart(async () => (await import('./key-dialogs.tsx')).RotateDialog)
const OnceDialog = lazyPart(async () => (await import('./once-dialog.tsx')).OnceDialog)

const TABS = ['terms', 'requests', 'usage'] as const
/** What every row would say, and what the width has no room for. */
const OF_ITS_KEY = ['key', 'inputs', 'cache', 'where']
type Doing = 'change' | 'rotate' | 'revoke'

export function KeyPage() {
  const { project, name } = place.useParams()
  const search = place.useSearch()
  const { tab = 'terms' } = search
  const found = useQuery(keyQueries.one(project, name))
  const key = found.data
  const [doing, setDoing] = useState<Doing>()
  const [once, setOnce] = useState<Once>()
  const id = `${project}/${name}`
  const end = (): void => setDoing(undefined)
  const say = words.keys.detail
  return (
    <Page
      title={id}
      crumbs={[{ label: words.places.keys, to: paths.keys() }]}
      head={
        <>
          <span className="truncate">{id}</span>
          <CopyIconButton text={id} />
          {key?.managed_at != null && <LockTag at={key.managed_at} />}
        </>
      }
      actions={key && <Actions keyRow={key} start={setDoing} />}
      side={
        key && (
          <div className="flex flex-col gap-6 px-5 py-4">
            <KeySecrets of={key} />
            <KeyHistory of={key} />
          </div>
        )
      }
    >
      {key === undefined ? (
        <Missing query={found} gone={<Empty title={say.gone(id)} />} />
      ) : (
        <>
          <Tabs
            label={id}
            value={tab}
            tabs={TABS.map((one) => ({
              value: one,
              label: say.tabs[one],
              to: paths.key(id, one === 'terms' ? {} : { tab: one }),
            }))}
            className="px-6 pt-1 phone:px-4"
          />
          {tab === 'terms' && <KeyTerms of={key} />}
          {tab === 'requests' && <RequestsOf of={{ key: id }} search={search} hiddenColumns={OF_ITS_KEY} />}
          {tab === 'usage' && <UsageOf of={{ key: id }} by="model" search={search} />}
        </>
      )}
      {key && doing === 'change' && <KeySheet of={key} onClose={end} />}
      {key && doing === 'revoke' && <RevokeDialog of={key} onClose={end} />}
      {key && doing === 'rotate' && (
        <RotateDialog
          of={key}
          onClose={end}
          onRotated={(made) => {
            end()
            setOnce(made)
          }}
        />
      )}
      {once && <OnceDialog once={once} onClose={() => setOnce(undefined)} />}
    </Page>
  )
}

function Actions({ keyRow, start }: { readonly keyRow: Key; readonly start: (doing: Doing) => void }) {
  const may = useMay()
  const isPhone = usePhone()
  const { managed_at: managedAt, revoked_at: revokedAt, project } = keyRow
  if (!may('keys.write', project) || revokedAt !== null) return null
  const why = managedAt === null ? undefined : words.keys.detail.managed(managedAt)
  if (isPhone)
    return (
      <Menu
        align="end"
        trigger={
          <IconButton label={words.keys.detail.more}>
            <MoreHorizontal size={16} aria-hidden />
          </IconButton>
        }
      >
        <MenuItem why={why} onSelect={() => start('change')}>
          {words.keys.detail.change}
        </MenuItem>
        <MenuItem why={why} onSelect={() => start('rotate')}>
          {words.keys.rotate.action}
        </MenuItem>
        <MenuItem danger why={why} onSelect={() => start('revoke')}>
          {words.keys.revoke.action}
        </MenuItem>
      </Menu>
    )
  return (
    <>
      <Button why={why} onClick={() => start('change')}>
        {words.keys.detail.change}
      </Button>
      <Button why={why} onClick={() => start('rotate')}>
        {words.keys.rotate.action}
      </Button>
      <Button look="danger" why={why} onClick={() => start('revoke')}>
        {words.keys.revoke.action}
      </Button>
    </>
  )
}
