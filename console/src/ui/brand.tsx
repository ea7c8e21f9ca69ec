/** The gate. Two colours, both of the theme. */
export function Brand({ size = 20 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" aria-hidden className="shrink-0">
      <path
        d="M1.4 2.9Q10 5.5 18.6 2.9M2.6 7Q10 9.4 17.4 7"
        fill="none"
        stroke="var(--accent)"
        strokeWidth="1.75"
        strokeLinecap="round"
      />
      <path
        d="M5.56 4.2V16.6M14.44 4.2V16.6"
        fill="none"
        stroke="var(--ink)"
        strokeWidth="1.75"
        strokeLinecap="round"
      />
    </svg>
  )
}
