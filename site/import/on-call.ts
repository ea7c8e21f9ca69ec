/** The page for the night: each step of a case gets a label in the margin, and each alert says how urgent it is. */

const STEP = /^\*\*(Impact|Check|Fix|It is over when|If not)\*\*:? ?/
const ALERT = /^Alert (`\w+`(?:, `\w+`)*) · (page now|next working day|.+)$/
const LABELS: Readonly<Record<string, string>> = { 'It is over when': 'Over when' }

/** Markdown with `<div class="step">` around each step. A blank line lets Markdown go on inside of HTML. */
export function withSteps(markdown: string): string {
  const written: string[] = []
  let isOpen = false
  let isCode = false
  const close = (): void => {
    if (isOpen) written.push('', '</div></div>', '')
    isOpen = false
  }
  for (const line of markdown.split('\n')) {
    if (/^ *```/.test(line)) isCode = !isCode
    const [whole = '', step] = isCode ? [] : (STEP.exec(line) ?? [])
    const [, alerts, urgency] = isCode ? [] : (ALERT.exec(line) ?? [])
    if (step !== undefined) {
      close()
      const kind = step === 'It is over when' ? ' over' : ''
      written.push(
        `<div class="step${kind}"><p class="step-label">${LABELS[step] ?? step}</p><div>`,
        '',
        capital(line.slice(whole.length)),
      )
      isOpen = true
    } else if (alerts !== undefined) {
      const isNow = urgency === 'page now'
      written.push(
        `<p class="alert">Alert ${alerts.replaceAll(/`(\w+)`/g, '<code>$1</code>')} <span class="chip ${isNow ? 'bad' : 'warn'}">${capital(urgency ?? '')}</span></p>`,
      )
    } else {
      if (!isCode && /^(?:#|<a id=|---$)/.test(line)) close()
      written.push(line)
    }
  }
  close()
  return written.join('\n')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
