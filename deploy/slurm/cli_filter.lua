-- CliFilterPlugins=cli_filter/lua: `IOTIDE=1 sbatch ...` sets `--comment=iotide`, also for srun and salloc. Other jobs are unchanged.
function slurm_cli_setup_defaults(options, early)
    return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
    local wanted = os.getenv("IOTIDE")
    if wanted == nil or wanted == "" or wanted == "0" or os.getenv("SLURM_JOB_ID") ~= nil then
        return slurm.SUCCESS
    end
    local comment = options["comment"]
    if comment == nil or comment == "" then
        options["comment"] = "iotide"
    elseif not (" " .. comment .. " "):find("[^%w_-]iotide[^%w_-]") then
        options["comment"] = comment .. " iotide"
    end
    return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job, step)
    return slurm.SUCCESS
end
