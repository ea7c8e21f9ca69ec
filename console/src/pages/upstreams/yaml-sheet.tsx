/** The configuration as it is exported, at what declares something. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { routingQueries } from '../../api/queries/routing.ts'
import { classes } from '../../ui/classes.ts'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { words } from '../../words/words.ts'
import type { Declared } from './source-tag.tsx'
import { declaredAt } from './upstream-row.ts'
import { lineOf } from './yaml-line.ts'

export function YamlSheet({
  declared,
  onClose,
}: {
  readonly declared: Declared
  readonly onClose: () => void
}) {
  const query = useQuery(routingQueries.exported())
  const box = useRef<HTMLPreElement>(null)
  const text = query.data
  const lines = text?.split('\n')
  const marked = lines && lineOf(lines, declared.path)
  useEffect(() => {
    if (marked !== undefined) box.current?.querySelector('[data-marked]')?.scrollIntoView({ block: 'center' })
  }, [marked])
  const at = declaredAt(declared.source) ?? ''
  return (
    <Sheet open onClose={onClose} title={words.routing.yaml.at(at)}>
      {query.error !== null && (
        <Problem error={query.error} retry={() => void query.refetch()} className="px-0!" />
      )}
      {lines === undefined && query.error === null && <LoadingRows className="-mx-6" />}
      {lines !== undefined && (
        <div className="relative rounded-control border border-line bg-sunken">
          <span className="absolute top-1.5 right-1.5 z-1">
            <CopyIconButton text={at} />
          </span>
          <pre ref={box} tabIndex={0} className="mono-12 overflow-x-auto py-2">
            {lines.map((line, index) => (
              <span
                key={index}
                className={classes('block px-3', index === marked && 'bg-accent-tint')}
                {...(index === marked && { 'data-marked': '' })}
              >
                {line === '' ? ' ' : line}
              </span>
            ))}
          </pre>
        </div>
      )}
    </Sheet>
  )
}
