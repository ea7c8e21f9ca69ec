/** `/go/{anything}`: finds what has this id, and goes there. The log's address in an error leads here. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import { words } from '../words/words.ts'
import { Empty } from '../ui/empty.tsx'
import { useGo } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { pathOfHit, resolveQuery } from './resolve.ts'

export function GoPage() {
  const { id = '' } = useParams({ strict: false })
  const hits = useQuery(resolveQuery(id))
  const go = useGo()
  const first = hits.data?.[0]
  const arrive = useEffectEvent((to: string) => go(to, { replace: true }))
  useEffect(() => {
    if (first !== undefined) arrive(pathOfHit(first))
  }, [first])
  return (
    <Page title={id}>
      {hits.isPending && <p className="px-6 py-8 text-ink-2">{words.shell.going(id)}</p>}
      {hits.error !== null && <Problem error={hits.error} retry={() => void hits.refetch()} />}
      {hits.data?.length === 0 && <Empty title={words.shell.goneTitle}>{words.shell.goneText(id)}</Empty>}
    </Page>
  )
}
