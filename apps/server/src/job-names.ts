// Names of jobs that several files use. Quarantined rows are stored under the name of their job.
export const keyUsageJob = "flush-key-usage";
export const sendMailsJob = "send-mails";
export const answerMailsJob = "answer-mail-requests";
export const expireSessionsJob = "expire-sessions";
export const reportProcessJob = "report-process";
export const foldEmailsJob = "fold-emails";
export const foldInvitationsJob = "fold-invitations";
