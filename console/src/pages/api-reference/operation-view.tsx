/** One operation: what it does, what it takes and answers, and a form that sends it. */
import { words } from '../../words/words.ts'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Tag, type TagTone } from '../../ui/tag.tsx'
import type { ReactNode } from 'react'
import { typeText, type Document, type Operation } from './operations.ts'
import { SchemaTree } from './schema-tree.tsx'
import { TryIt } from './try-it.tsx'

const TONES: Readonly<Record<string, TagTone>> = {
  GET: 'accent',
  POST: 'good',
  PUT: 'warn',
  PATCH: 'warn',
  DELETE: 'bad',
}

export function MethodTag({ method }: { readonly method: string }) {
  return (
    <Tag tone={TONES[method] ?? 'plain'} className="font-mono">
      {method}
    </Tag>
  )
}

interface OperationViewProps {
  readonly operation: Operation
  readonly document: Document
}

export function OperationView({ operation, document }: OperationViewProps) {
  const { method, path, summary, description, parameters, bodies, answers, permission } = operation
  const say = words.apiReference
  return (
    <div className="flex min-w-0 flex-col gap-5 px-6 py-5 phone:px-4">
      <header className="flex flex-col gap-2">
        <h2 className="text-18 font-semibold">{summary}</h2>
        <p className="flex min-w-0 flex-wrap items-center gap-2">
          <MethodTag method={method} />
          <code className="mono-12 min-w-0 break-all">{path}</code>
          <CopyIconButton text={path} />
          {permission !== undefined && <Tag>{say.permissions[permission] ?? permission}</Tag>}
        </p>
        {description !== undefined && <p className="text-ink-2">{description}</p>}
      </header>
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)_minmax(0,26rem)] gap-8 tight:grid-cols-1 phone:grid-cols-1">
        <article className="flex min-w-0 flex-col gap-5">
          {parameters.length > 0 && (
            <Block title={say.parameters}>
              <ul>
                {parameters.map(({ name, in: where, required, schema = {}, description: text }) => (
                  <li key={`${where} ${name}`} className="border-t border-line py-1.5 first:border-t-0">
                    <p className="flex flex-wrap items-baseline gap-x-2">
                      <code className="mono-12 font-semibold">{name}</code>
                      <code className="mono-12 min-w-0 break-words text-ink-3">{typeText(schema)}</code>
                      <span className="text-11 text-ink-3">{say.in[where]}</span>
                      {required === true && <span className="text-11 text-warn">{say.required}</span>}
                    </p>
                    {text !== undefined && <p className="text-12 text-ink-2">{text}</p>}
                  </li>
                ))}
              </ul>
            </Block>
          )}
          {bodies.map(([type, schema]) => (
            <Block key={type} title={`${say.body}, ${type}`}>
              <SchemaTree schema={schema} document={document} />
            </Block>
          ))}
          {answers.map(([status, text, schema]) => (
            <Block key={status} title={say.answer(status)}>
              {Number(status) >= 300 ? (
                <p className="text-12 break-words text-ink-2">{text}</p>
              ) : (
                schema !== undefined && <SchemaTree schema={schema} document={document} />
              )}
            </Block>
          ))}
        </article>
        {/* In one column the form comes before the fields, which may be many. */}
        <div className="min-w-0 tight:order-first phone:order-first">
          <TryIt key={operation.id} operation={operation} document={document} />
        </div>
      </div>
    </div>
  )
}

function Block({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col gap-1.5">
      <h3 className="text-13 font-semibold">{title}</h3>
      {children}
    </section>
  )
}
