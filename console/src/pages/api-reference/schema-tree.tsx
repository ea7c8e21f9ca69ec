/** The fields of a body or an answer, one level at a time. */
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { words } from '../../words/words.ts'
import { classes } from '../../ui/classes.ts'
import { resolved, typeText, type Document, type Schema } from './operations.ts'

interface SchemaTreeProps {
  readonly schema: Schema
  readonly document: Document
}

export function SchemaTree({ schema, document }: SchemaTreeProps) {
  const fields = fieldsOf(schema, document)
  if (fields === undefined)
    return (
      <p className="text-12 text-ink-2">
        <code className="mono-12">{typeText(schema)}</code> {schema.description}
      </p>
    )
  return (
    <ul className="flex flex-col">
      {fields.map((field) => (
        <FieldLine key={field.name} field={field} document={document} />
      ))}
    </ul>
  )
}

interface SchemaField {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
}

/** Of an object, or of the items of a list. Undefined: it has no fields. */
function fieldsOf(schema: Schema, document: Document): readonly SchemaField[] | undefined {
  const whole = resolved(schema, document)
  if (whole.type === 'array' && whole.items !== undefined) return fieldsOf(whole.items, document)
  const several = whole.anyOf ?? whole.oneOf
  if (several !== undefined) {
    const objects = several.map((one) => fieldsOf(one, document)).filter((one) => one !== undefined)
    return objects.length === 1 ? objects[0] : undefined
  }
  if (whole.properties === undefined) return undefined
  return Object.entries(whole.properties).map(([name, property]) => ({
    name,
    schema: property,
    isRequired: whole.required?.includes(name) === true,
  }))
}

function FieldLine({ field, document }: { readonly field: SchemaField; readonly document: Document }) {
  const [isOpen, setOpen] = useState(false)
  const hasMore = fieldsOf(field.schema, document) !== undefined
  const description = field.schema.description ?? resolved(field.schema, document).description
  const head = (
    <>
      <code className="mono-12 font-semibold">{field.name}</code>
      <code className="mono-12 min-w-0 break-words text-ink-3">{typeText(field.schema)}</code>
      {field.isRequired && <span className="text-11 text-warn">{words.apiReference.required}</span>}
    </>
  )
  return (
    <li className="border-t border-line py-1.5 first:border-t-0">
      {hasMore ? (
        <button
          type="button"
          aria-expanded={isOpen}
          className="relative flex w-full flex-wrap items-baseline gap-x-2 pl-5 text-left hover:text-accent"
          onClick={() => setOpen(!isOpen)}
        >
          <ChevronRight
            size={12}
            aria-hidden
            className={classes('absolute top-1 left-0 text-ink-3', isOpen && 'rotate-90')}
          />
          {head}
        </button>
      ) : (
        <p className="flex flex-wrap items-baseline gap-x-2 pl-5">{head}</p>
      )}
      {description !== undefined && <p className="pl-5 text-12 text-ink-2">{description}</p>}
      {isOpen && (
        <div className="mt-1 ml-2 border-l border-line pl-3">
          <SchemaTree schema={field.schema} document={document} />
        </div>
      )}
    </li>
  )
}
