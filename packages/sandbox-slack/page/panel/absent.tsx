/** Where the sandbox Slack runs alone there is no other side. */
export const Absent = () => (
  <p class="panel-absent">
    This page was opened without a CI beside it. <code>npm run demo</code> has one.
  </p>
)
