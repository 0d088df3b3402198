// Names of jobs that more than one file knows: rows that a job sets aside are kept under its name.
export const keyUsageJob = "flush-key-usage";
export const sendMailsJob = "send-mails";
export const answerMailsJob = "answer-mail-requests";
export const expireSessionsJob = "expire-sessions";
export const reportProcessJob = "report-process";
export const foldEmailsJob = "fold-emails";
export const foldInvitationsJob = "fold-invitations";
