package androidx.test.internal.runner.lifecycle;

import android.app.Activity;
import androidx.test.runner.lifecycle.ActivityLifecycleCallback;
import androidx.test.runner.lifecycle.ActivityLifecycleMonitor;
import androidx.test.runner.lifecycle.Stage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public final class ActivityLifecycleMonitorImpl implements ActivityLifecycleMonitor {
    private final Map<Activity, Stage> stages = new LinkedHashMap<>();

    public void signalLifecycleChange(Stage stage, Activity activity) {
        stages.put(activity, stage);
    }

    @Override
    public void addLifecycleCallback(ActivityLifecycleCallback callback) {}

    @Override
    public void removeLifecycleCallback(ActivityLifecycleCallback callback) {}

    @Override
    public Stage getLifecycleStageOf(Activity activity) {
        return stages.get(activity);
    }

    @Override
    public Collection<Activity> getActivitiesInStage(Stage stage) {
        List<Activity> found = new ArrayList<>();
        for (Map.Entry<Activity, Stage> entry : stages.entrySet()) if (entry.getValue() == stage) found.add(entry.getKey());
        return found;
    }
}
