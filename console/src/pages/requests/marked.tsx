/** A sentence with marks: `**strong**`, `~failed~`, and code in back-ticks. */
const MARKS = /(\*\*[^*]+\*\*|~[^~]+~|`[^`]+`)/

export function Marked({ text }: { readonly text: string }) {
  return text.split(MARKS).map((part, index) => {
    if (index % 2 === 0) return part
    if (part.startsWith('`'))
      return (
        <code key={index} className="mono-12">
          {part.slice(1, -1)}
        </code>
      )
    if (part.startsWith('~'))
      return (
        <strong key={index} className="font-semibold text-warn">
          {part.slice(1, -1)}
        </strong>
      )
    return (
      <strong key={index} className="font-semibold text-ink">
        {part.slice(2, -2)}
      </strong>
    )
  })
}
