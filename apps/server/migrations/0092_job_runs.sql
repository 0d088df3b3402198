-- phase: expand
-- When a job that one process runs for all last began. A process that lives for less than the interval of a job still runs what is due, and one that starts often does not run it each time.
create table job_runs (
  name text not null,
  last_run_at timestamptz(3) not null,
  constraint job_runs_pkey primary key (name)
);
