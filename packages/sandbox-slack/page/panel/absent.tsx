/** Shown in panels if the sandbox Slack runs without a CI. */
export const Absent = () => (
  <p class="panel-absent">
    This page was opened without a CI beside it. <code>npm run demo</code> has one.
  </p>
)
