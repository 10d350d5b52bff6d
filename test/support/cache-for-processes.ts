// Node has read it when this process started. The processes that tests start use the compile cache.
delete process.env['NODE_DISABLE_COMPILE_CACHE']
