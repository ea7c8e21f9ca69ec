/** `/go/{anything}`: finds what has this id, and goes there. The log's address in an error leads here. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import { words } from '../../words/words.ts'
import { go as place } from './place.ts'
import { Empty } from '../../ui/empty.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { pathOfHit, resolveQuery } from '../../app/resolve.ts'

export function GoPage() {
  const { id } = place.useParams()
  const hits = useQuery(resolveQuery(id))
  const navigate = useNavigate()
  const first = hits.data?.[0]
  const arrive = useEffectEvent((hit: NonNullable<typeof first>) => {
    void navigate({ ...pathOfHit(hit), replace: true })
  })
  useEffect(() => {
    if (first !== undefined) arrive(first)
  }, [first])
  return (
    <Page title={id}>
      {hits.isPending && <p className="px-6 py-8 text-ink-2">{words.shell.going(id)}</p>}
      {hits.error !== null && <Problem error={hits.error} retry={() => void hits.refetch()} />}
      {hits.data?.length === 0 && <Empty title={words.shell.goneTitle}>{words.shell.goneText(id)}</Empty>}
    </Page>
  )
}
