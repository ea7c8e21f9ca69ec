/** Where something is declared that can't be changed here. It opens the configuration there. */
import { Lock } from 'lucide-react'
import { createContext, use } from 'react'
import type { Source } from '../../api/queries/routing.ts'
import { LockTag, Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { declaredAt } from './upstream-row.ts'
import type { YamlPath } from './yaml-line.ts'

export interface Declared {
  readonly source: Source
  readonly path: YamlPath
}

/** Undefined: this person may not read the configuration. */
export const ShowDeclared = createContext<((declared: Declared) => void) | undefined>(undefined)

export function SourceTag(declared: Declared) {
  const show = use(ShowDeclared)
  const at = declaredAt(declared.source)
  if (at === undefined) return null
  if (declared.source.kind !== 'file' || show === undefined) return <LockTag at={at} />
  return (
    <button
      type="button"
      aria-label={words.routing.yaml.show(at)}
      className="shrink-0"
      onClick={() => show(declared)}
    >
      <Tag icon={<Lock size={10} strokeWidth={2.25} aria-hidden />} className="text-accent! hover:underline">
        {at}
      </Tag>
    </button>
  )
}
