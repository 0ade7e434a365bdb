"""Views of the store as files, files of other projects as tasks, and facts.

`projection` is the only writer, `mirror_keeper` decides when mirrors are written, `views` lists them. The
formats are ACTIVE-TASKS.md (`active_tasks` renders it, `tasks_file` reads and edits it), the bank (`bank`,
`bank_reading`) and states folders (`states`, `states_reading`). `*_operations` and `facts` are operations of
TaskMemory. May import model, config, system, store, ledger, packet and core.
"""
