/** The gate. Two colours, both of the theme. */
export function Brand({ size = 20 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" aria-hidden className="shrink-0">
      <path
        d="M1 3.2C4 4.6 16 4.6 19 3.2"
        fill="none"
        stroke="var(--accent)"
        strokeWidth="2"
        strokeLinecap="round"
      />
      <path d="M2.6 8.2H17.4" fill="none" stroke="var(--accent)" strokeWidth="1.8" strokeLinecap="round" />
      <path
        d="M5.6 4.6V18.4M14.4 4.6V18.4"
        fill="none"
        stroke="var(--ink)"
        strokeWidth="1.9"
        strokeLinecap="round"
      />
    </svg>
  )
}
