import type { ComponentChildren } from 'preact'

/** An icon in the colour of the surrounding text. It has no label: the element around it must have one. */
function Icon({ children, size = 18 }: { children: ComponentChildren; size?: number }) {
  return (
    <svg
      class="icon-drawing"
      viewBox="0 0 20 20"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  )
}

export const MenuIcon = () => (
  <Icon>
    <path d="M3 5.5h14M3 10h14M3 14.5h14" />
  </Icon>
)
export const CloseIcon = ({ size = 18 }: { size?: number }) => (
  <Icon size={size}>
    <path d="M5 5l10 10M15 5L5 15" />
  </Icon>
)
export const HashIcon = () => (
  <Icon size={16}>
    <path d="M8.2 3L6.4 17M13.6 3l-1.8 14M3.6 7.4h13M3.2 12.6h13" />
  </Icon>
)
export const LockIcon = () => (
  <Icon size={16}>
    <rect x="4.5" y="8.8" width="11" height="7.7" rx="1.6" />
    <path d="M7 8.6V6.4a3 3 0 016 0v2.2" />
  </Icon>
)
export const SendIcon = () => (
  <Icon>
    <path d="M3.4 3.6l13.6 6.4-13.6 6.4 1.8-6.4z" fill="currentColor" />
    <path d="M5.4 10h5" stroke="var(--send-line)" />
  </Icon>
)
export const BoltIcon = () => (
  <Icon size={16}>
    <path d="M11 2.8L4.8 11h4.6L8.6 17.2 15.2 9h-4.8z" />
  </Icon>
)
export const DotsIcon = () => (
  <Icon>
    <path d="M10 4.6v.01M10 10v.01M10 15.4v.01" stroke-width="2.6" />
  </Icon>
)
export const ReplyIcon = () => (
  <Icon>
    <path d="M10 3.5a6.5 6 0 016.5 6 6.5 6 0 01-6.5 6c-1 0-2-.2-2.900-.6L3.600 16l1-2.800A5.700 5.700 0 013.500 9.500a6.500 6 0 016.500-6z" />
    <path d="M7.200 8.300h5.600M7.200 11h3.600" />
  </Icon>
)
export const ThemeIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="6.600" />
    <path d="M10 3.400a6.600 6.600 0 010 13.200z" fill="currentColor" />
  </Icon>
)
export const EyeIcon = () => (
  <Icon size={14}>
    <path d="M2.500 10S5.200 5 10 5s7.500 5 7.500 5-2.700 5-7.500 5-7.500-5-7.500-5z" />
    <circle cx="10" cy="10" r="2.200" />
  </Icon>
)
export const SlashIcon = () => (
  <Icon>
    <rect x="3.200" y="3.200" width="13.600" height="13.600" rx="3" />
    <path d="M11.600 6.400l-3.200 7.200" />
  </Icon>
)
export const MentionIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="2.900" />
    <path d="M12.900 7.100v3.700a1.800 1.800 0 003.600 0V10a6.500 6.500 0 10-2.600 5.200" />
  </Icon>
)
export const PeopleIcon = () => (
  <Icon size={15}>
    <circle cx="8" cy="6.800" r="2.800" />
    <path d="M2.800 16c.2-3 2.200-4.700 5.200-4.700s5 1.700 5.200 4.700M13.300 4.300a2.800 2.800 0 010 5M14.700 11.700c1.500.6 2.400 2 2.600 4.300" />
  </Icon>
)
