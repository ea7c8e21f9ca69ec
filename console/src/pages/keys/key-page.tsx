import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { isNotFound } from '../../api/faults.ts'
import { keyQueries } from '../../api/queries/keys.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Empty } from '../../ui/empty.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { LockTag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import type { Key } from './columns.tsx'
import { RevokeDialog, RotateDialog } from './key-dialogs.tsx'
import { KeyHistory, KeySecrets, KeyTerms, KeyUse } from './key-parts.tsx'
import { KeySheet } from './key-sheet.tsx'
import { OnceDialog, type Once } from './once-dialog.tsx'

const TABS = ['terms', 'requests', 'usage'] as const
type Doing = 'change' | 'rotate' | 'revoke'

export function KeyPage() {
  const { project = '', name = '' } = useParams({ strict: false })
  const { tab = 'terms' } = useSearch({ strict: false }) as { tab?: (typeof TABS)[number] }
  const { data: key, error, refetch } = useQuery(keyQueries.one(project, name))
  const [doing, setDoing] = useState<Doing>()
  const [once, setOnce] = useState<Once>()
  const id = `${project}/${name}`
  const end = (): void => setDoing(undefined)
  const say = words.keys.detail
  return (
    <Page
      title={id}
      crumbs={[{ label: words.keys.title, to: paths.keys() }]}
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
        <Missing id={id} error={error} retry={() => void refetch()} />
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
          {tab === 'terms' ? <KeyTerms of={key} /> : <KeyUse of={key} tab={tab} />}
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
  const { managed_at: managedAt, revoked_at: revokedAt, project } = keyRow
  if (!may('keys.write', project) || revokedAt !== null) return null
  const why = managedAt === null ? undefined : words.keys.detail.managed(managedAt)
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

interface MissingProps {
  readonly id: string
  readonly error: unknown
  readonly retry: () => void
}

function Missing({ id, error, retry }: MissingProps) {
  if (error === null || error === undefined) return <LoadingRows />
  if (isNotFound(error)) return <Empty title={words.keys.detail.gone(id)} />
  return <Problem error={error} retry={retry} />
}
